"""Perfetto's traces read by the names of their fields, as protos/perfetto/trace has them: for tests of what sonde writes.

A field that has no name here fails the test: sonde writes nothing but these.
"""
import struct

from protobuf import fields

# message -> field -> (number, what it is): a message, int (signed 64 bits), uint, text, double, fixed
MESSAGES = {
    "Trace": {"packet": (1, "TracePacket")},
    "TracePacket": {
        "clock_snapshot": (6, "ClockSnapshot"), "timestamp": (8, "uint"), "trusted_packet_sequence_id": (10, "uint"),
        "track_event": (11, "TrackEvent"), "interned_data": (12, "InternedData"), "sequence_flags": (13, "uint"),
        "track_descriptor": (60, "TrackDescriptor"), "perf_sample": (66, "PerfSample")},
    "ClockSnapshot": {"clocks": (1, "Clock")},
    "Clock": {"clock_id": (1, "uint"), "timestamp": (2, "uint")},
    "TrackEvent": {
        "category_iids": (3, "uint"), "debug_annotations": (4, "DebugAnnotation"), "type": (9, "uint"), "name_iid": (10, "uint"),
        "track_uuid": (11, "uint"), "double_counter_value": (44, "double"), "flow_ids": (47, "fixed"),
        "terminating_flow_ids": (48, "fixed")},
    "DebugAnnotation": {"name_iid": (1, "uint"), "int_value": (4, "int"), "double_value": (5, "double"), "string_value": (6, "text"),
                        "legacy_json_value": (9, "text")},
    "TrackDescriptor": {"uuid": (1, "uint"), "name": (2, "text"), "process": (3, "ProcessDescriptor"),
                        "thread": (4, "ThreadDescriptor"), "parent_uuid": (5, "uint"), "counter": (8, "CounterDescriptor")},
    "ProcessDescriptor": {"pid": (1, "int"), "cmdline": (2, "text"), "process_name": (6, "text")},
    "ThreadDescriptor": {"pid": (1, "int"), "tid": (2, "int"), "thread_name": (5, "text")},
    "CounterDescriptor": {},
    "InternedData": {
        "event_categories": (1, "Named"), "event_names": (2, "Named"), "debug_annotation_names": (3, "Named"),
        "function_names": (5, "Named"), "frames": (6, "Frame"), "callstacks": (7, "Callstack"), "mapping_paths": (17, "Named"),
        "source_paths": (18, "Named"), "mappings": (19, "Mapping")},
    "Named": {"iid": (1, "uint"), "name": (2, "text")},
    "Mapping": {"iid": (1, "uint"), "path_string_ids": (7, "uint")},
    "Frame": {"iid": (1, "uint"), "function_name_id": (2, "uint"), "mapping_id": (3, "uint"), "rel_pc": (4, "uint"),
              "source_path_iid": (5, "uint"), "line_number": (6, "uint")},
    "Callstack": {"iid": (1, "uint"), "frame_ids": (2, "uint")},
    "PerfSample": {"cpu": (1, "uint"), "pid": (2, "uint"), "tid": (3, "uint"), "callstack_iid": (4, "uint"), "cpu_mode": (5, "uint"),
                   "timebase_count": (6, "uint")},
}
SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4  # TrackEvent.Type


class Message:
    """message.field is the list of its values; message.one("field") the only one, or None."""

    def __init__(self, kind, data):
        self.kind, read = kind, fields(data)
        for name, (number, what) in MESSAGES[kind].items():
            values = read.pop(number, [])
            if what in MESSAGES:
                values = [Message(what, v) for v in values]
            elif what == "int":
                values = [v - (1 << 64) if v >> 63 else v for v in values]
            elif what == "text":
                values = [v.decode("utf-8") for v in values]
            elif what in ("double", "fixed"):
                values = [struct.unpack("<d" if what == "double" else "<Q", v)[0] for v in values]
            else:
                assert all(isinstance(v, int) for v in values), (kind, name)
            setattr(self, name, values)
        assert not read, f"{kind} has fields without a name: {sorted(read)}"

    def one(self, name):
        values = getattr(self, name)
        assert len(values) <= 1, (self.kind, name, values)
        return values[0] if values else None
