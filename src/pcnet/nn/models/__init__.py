"""Whole models: features and edges in, logits out."""

from pcnet.nn.models._files import load_model, save_model
from pcnet.nn.models._pcnet import PCNet, PCNetSettings

__all__ = ["PCNet", "PCNetSettings", "load_model", "save_model"]
