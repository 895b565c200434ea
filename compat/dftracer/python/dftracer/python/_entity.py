"""Entities: things that events use and make, and how they are related."""
import enum
import json


class EntityStore(enum.IntEnum):
    MEMORY = 0
    GPU_MEMORY = 1
    LOCAL_DISK = 2
    PARALLEL_FS = 3
    BURST_BUFFER = 4
    OBJECT_STORE = 5
    DATABASE = 6
    NETWORK = 7
    OTHER = 8


class EntityRole(enum.IntEnum):
    UNKNOWN = 0
    INPUT = 1
    OUTPUT = 2
    INTERMEDIATE = 3
    PARAMETER = 4
    REFERENCE = 5


class EntityRelation(enum.IntEnum):
    """Below 16 an event's relation to an entity, from 16 on one between entities."""
    USED = 0
    GENERATED = 1
    INVALIDATED = 2
    UPDATED = 3
    DERIVED_FROM = 16
    REVISION_OF = 17
    CONTAINS = 18
    PART_OF = 19
    SPECIALIZATION_OF = 20
    ALTERNATE_OF = 21
    DEPENDS_ON = 22


_NAMES = {relation: relation.name.lower() for relation in EntityRelation if relation < EntityRelation.DERIVED_FROM}


def is_of_event(relation):
    return int(relation) < EntityRelation.DERIVED_FROM


def with_relations(args, relations):
    """Arguments of an event that has these relations: relation -> ids."""
    if not relations:
        return args
    told = {_NAMES.get(relation, str(int(relation))): [f"{entity:016x}" for entity in ids] for relation, ids in relations.items()}
    return {**args, "relations": (0, json.dumps(told, separators=(",", ":")).encode())}
