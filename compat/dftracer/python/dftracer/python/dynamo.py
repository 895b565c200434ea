"""Every operation of a compiled PyTorch graph as an event, by torch.compile.

    from dftracer.python.dynamo import dynamo, create_backend

    @dynamo.compile
    def forward(x): ...

    model = torch.compile(model, backend=create_backend(epoch=1))

An operation's event has the category `dynamo` and the argument grad_enabled. This module can be imported without
PyTorch; compile and create_backend then raise RuntimeError, as they do when PyTorch is older than torch.compile.
"""
from . import _core
from ._ai import DFTracerAI
from ._tracer import DFTRACER_ENABLE

CATEGORY = "dynamo"
TRACED = ("call_module", "call_function", "call_method")


def _torch():
    try:
        import torch
    except ImportError as error:
        raise RuntimeError("PyTorch is not installed: there is nothing that dynamo could trace") from error
    return torch


def _compiler():
    torch = _torch()
    if not hasattr(torch, "compile"):
        raise RuntimeError(f"PyTorch {torch.__version__} has no torch.compile, which dynamo needs")
    return torch.compile


def _autograd(backend):
    """The backend behind PyTorch's autograd; RuntimeError when this release has no such thing."""
    try:
        from functorch.compile import make_boxed_func
        from torch._dynamo.backends.common import aot_autograd
    except ImportError as error:
        raise RuntimeError("this PyTorch has no AOT autograd; use autograd=False") from error
    return aot_autograd(fw_compiler=lambda graph, inputs, **how: make_boxed_func(backend(graph, inputs, **how)))


def operation_name(node, graph):
    """What a node of a graph is called in the trace."""
    target = str(node.target).replace(".", "_")
    if node.op == "call_module":
        return f"{node.target}.{type(graph.get_submodule(node.target)).__name__}_{target}"
    if node.op == "call_function":
        return f"function.{getattr(node.target, '__name__', node.target)}"
    return f"method.{target}"


class Dynamo(DFTracerAI):
    """Operations that begin and end between others: a graph's nodes are run one after another."""

    def __init__(self, name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True):
        super().__init__(cat=CATEGORY, name=name, epoch=epoch, step=step, image_idx=image_idx, image_size=image_size, enable=enable)

    def _begin(self, name):
        """Called by the graph, before an operation."""
        del name
        self._starts.times.append(_core.get_time())
        _core.enter_event()

    def _end(self, name, result):
        """Called by the graph, behind an operation; the result is there to keep the order."""
        del result
        if self._starts.times:
            start = self._starts.times.pop()
            args = {**self._args, "grad_enabled": (0, int(_torch().is_grad_enabled()))}
            _core.log_event(name, self._cat, start, _core.get_time() - start, args)
            _core.exit_event()

    def instrument(self, module):
        """Put calls of _begin and _end around every operation of a torch.fx.GraphModule."""
        graph, begin, end = module.graph, self._begin, self._end  # one object each: graphs know functions by identity
        for node in [node for node in graph.nodes if node.op in TRACED]:
            name = operation_name(node, module)
            with graph.inserting_before(node):
                graph.call_function(begin, args=(name,))
            with graph.inserting_after(node):
                graph.call_function(end, args=(name, node))
        module.recompile()
        return module

    def backend(self, autograd=True):
        """A backend for torch.compile."""
        _torch()

        def run(module, inputs, **how):
            del inputs, how
            return self.instrument(module).forward if self._is_on() else module.forward

        return _autograd(run) if autograd else run

    def compile(self, f_py=None, autograd=True):
        """Compile a function or module so that its operations are events; as a decorator, too."""
        if f_py is None:
            return lambda f: self.compile(f, autograd)
        if not (DFTRACER_ENABLE and self._enable):
            return f_py
        return _compiler()(f_py, backend=self.backend(autograd))

    def count_parameters(self, module):
        return sum(p.numel() for p in module.parameters()) if hasattr(module, "parameters") else None


def create_backend(name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True, autograd=True):
    """A backend for torch.compile whose events have these arguments."""
    return Dynamo(name, epoch, step, image_idx, image_size, enable).backend(autograd)


dynamo = Dynamo()
