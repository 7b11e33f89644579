"""A playground: sliders for quotas, limits and weights, and what becomes of the same jobs; a page on loopback."""

from kueuepy.play.answers import Knob, Playground
from kueuepy.play.server import Server

__all__ = ["Knob", "Playground", "Server"]
