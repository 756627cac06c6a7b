"""What the loaded model gives the machine to do, read from its file's header in the background."""

from __future__ import annotations

from pathlib import Path

from app.core.errors import UserError
from app.core.model import ModelInfo
from app.core.model_file import check_model_file
from app.planner.model_work import ModelWork, split_work
from app.planner.plan_options import plan_options
from app.planner.planned_model import planned_model
from app.system.model_files import OpenFiles


def whole_work(model: ModelInfo) -> ModelWork | None:
    """Return the work of a model that lies on one device as a whole; None of any other, and where its file says too little."""
    if 0 < model.gpu_layers <= model.layers or (model.gpu_layers and model.options.experts_on_cpu):
        return None
    path = Path(model.path)
    try:
        with OpenFiles(path.parent) as files:
            headers = check_model_file(path.name, files.open)
            planned = planned_model(headers, files.size)
    except (UserError, OSError):
        return None  # it is loaded: what is wrong with its file was told, or will be with the next load
    split = split_work(planned, plan_options(model.options, model.trained_context), -1 if model.gpu_layers else 0)
    if split is None:
        return None
    work = split.on_gpu if model.gpu_layers else split.on_processor
    return None if work.is_empty else work
