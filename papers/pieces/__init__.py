"""The papers' m-piece problem, solved."""

from __future__ import annotations

from papers.pieces.densities import Piece as Piece
from papers.pieces.solve import PieceSolution as PieceSolution
from papers.pieces.solve import solve_pieces as solve_pieces
