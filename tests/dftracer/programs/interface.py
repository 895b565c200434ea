"""Every part of dftracer.logger and dftracer.python, one case a run: interface.py CASE."""
import os
import sys
import threading

from dftracer.logger import TagDType, TagType, TagValue, ai, dft_fn, dftracer
from dftracer.python import EntityRelation, EntityRole, EntityStore

DATA = os.environ["DATA_ROOT"]
fn = dft_fn("WORK")


@fn.log
def plain(a, b=2):
    """What it says of itself."""
    return a + b


@fn.log(name="renamed")
def named(step, image_size=7):
    return step


class Thing:
    @fn.log_init
    def __init__(self, epoch=None):
        self.step = 41

    @fn.log
    def method(self, image_idx):
        return image_idx

    @staticmethod
    @fn.log_static
    def below(value):
        return value

    @fn.log_static
    @staticmethod
    def above(value):
        return value


@fn.log
def fails():
    raise KeyError("on purpose")


def decorators():
    assert plain(1) == 3 and plain(1, b=5) == 6 and named(9) == 9
    assert plain.__name__ == "plain" and plain.__doc__ == "What it says of itself."
    thing = Thing(epoch=4)
    assert thing.method(5) == 5 and Thing.below("x") == "x" and Thing.above("y") == "y"
    try:
        fails()
    except KeyError as error:
        assert error.args == ("on purpose",)
    named(step=3, image_size=8)


def loops():
    assert list(fn.iter(range(3))) == [0, 1, 2]
    assert [x for x in fn.iter((c for c in "ab"), name="letters", iter_name="letter")] == ["a", "b"]
    for number in fn.iter(range(10), name="left"):
        if number == 1:
            break
    for _ in fn.iter([]):
        raise AssertionError
    for outer in fn.iter(range(2), name="outer"):
        for _ in fn.iter(range(outer), name="inner"):
            plain(0)


def contexts():
    with dft_fn("WORK", name="block", epoch=1, step=2) as block:
        block.update(image_idx=3, image_size=4, args={"text": "t", "real": 0.5, "big": 2**70, "flag": True})
        with dft_fn("WORK", "within"):
            plain(1)
        block.log_metadata("fact", "known")
    once = dft_fn("WORK", "flushed")
    with once:
        once.flush()
    with once:
        once.update(args={"again": 1})
    region = dft_fn("WORK", "region")
    region.reset()
    region.flush()
    with dft_fn("WORK", "off", enable=False) as off:
        off.update(epoch=1).flush()
    with dft_fn("WORK", "tagged") as tagged:
        tagged.update(args={"size": TagValue(3, TagDType.INT, TagType.VALUE), "ratio": TagValue("0.25", TagDType.FLOAT),
                            "word": TagValue(7)})
    try:
        with dft_fn("WORK", "raised"):
            raise ValueError
    except ValueError:
        pass


def conventions():
    with ai.compute.forward(step=3, args={"who": "me"}):
        pass
    with ai.compute.forward:
        pass
    ai.comm.disable()
    with ai.comm.barrier, ai.comm.send:
        pass
    ai.comm.send.enable()
    with ai.comm.barrier, ai.comm.send:
        pass
    ai.update(epoch=5)
    with ai.device.transfer:
        pass
    derived = ai.data.preprocess.derive("resize")
    assert derived is ai.data.preprocess.derive("resize") and derived.name == "preprocess.resize" and derived.cat == "data"
    with derived:
        pass
    assert list(ai.dataloader.fetch.iter("xy", include_block=False)) == ["x", "y"]
    assert list(ai.dataloader.fetch.iter("z", iter_name="get", block_name="use")) == ["z"]
    with ai.data.io.open, ai.checkpoint.io.write, ai.other.log, ai.io.read:
        pass

    @ai.compute.backward(enable=False)
    def quiet():
        return 1

    assert quiet() == 1
    ai.disable()
    with ai.compute.step:
        pass


def entities():
    log = dftracer.get_instance()
    log.declare_entity_type("sample", EntityRole.INPUT, "what is learnt from")
    structure = log.declare_entity("protein_structure", "MGYP0001", EntityStore.PARALLEL_FS, "/data/1")
    assert f"{structure:016x}" == "8f0de68c04eea0bf"
    with dft_fn("WORK", "uses") as region:
        one, two = region.uses("sample", 1), region.uses("sample", 2)
        made = region.generates("model", "final")
        region.relate(EntityRelation.CONTAINS, made).relate(EntityRelation.USED, 0)
        assert one == log.declare_entity("sample", "1") and one != two
    with region:
        pass
    log.relate_entities(EntityRelation.DERIVED_FROM, made, one)
    log.relate_entities(EntityRelation.USED, made, one)
    log.set_app_metadata_int("batch", 32)
    log.set_app_metadata_string("model", "net")
    log.mark_used("mine")


def leaks():
    """What one call was given is in no other."""
    @fn.log
    def with_epoch(epoch, step):
        return epoch, step

    with_epoch(1, 2)
    plain(3)
    before = dft_fn("WORK", "made and never used")
    del before
    plain(4)


def logged():
    log = dftracer.get_instance()
    log.log_event("direct", "WORK", log.get_time(), 5, string_args={"s": "text"})
    log.log_event(name="more", cat="WORK", start_time=log.start_time, duration=6, int_args={"i": (0, 1)}, float_args={"f": (1, 1.5)},
                  string_args={"s": (2, "t")})
    log.enter_event()
    log.log_event("inside", "WORK", log.get_time(), 0)
    log.exit_event()
    log.log_metadata_event("key", "value")
    log.log_event('"name"\n', "\udcff", log.get_time(), 0, string_args={"quote\"d": "x" * 200000, "bytes": "\udc80", "new\nline": "\\"})


def threads():
    def work():
        with dft_fn("WORK", "thread"):
            for _ in range(50):
                plain(1)

    running = [threading.Thread(target=work) for _ in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def forked():
    """A pool whose workers are ended with SIGTERM."""
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(plain, range(20)) == [n + 2 for n in range(20)]


def written():
    with open(os.path.join(DATA, "file"), "w", encoding="utf-8") as file:
        file.write("x" * 100)


if __name__ == "__main__":
    LOG = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
    globals()[sys.argv[1]]()
    LOG.finalize()
    print("fine")
