"""Shortest paths on a small grid, against lengths counted by hand."""

from envs.routing import Raster, shortest_path


def test_index_and_position_are_inverse() -> None:
    raster = Raster(4, 3)
    cells = [(x, y) for y in range(3) for x in range(4)]
    assert [raster.position(raster.index(x, y)) for x, y in cells] == cells
    assert list(raster.cells) == [raster.index(x, y) for x, y in cells]


def test_grid_holds_its_cells_and_not_the_margin() -> None:
    raster = Raster(4, 3)
    held = [cell for cell in range(-10, 60) if raster.holds(cell)]
    assert held == list(raster.cells)
    assert not raster.holds(raster.index(4, 1))
    assert not raster.holds(raster.index(0, -1))


def test_steps_go_north_east_south_west_and_distance_counts_them() -> None:
    raster = Raster(4, 3)
    middle = raster.index(1, 1)
    ahead = [raster.position(middle + step) for step in raster.steps]
    assert ahead == [(1, 0), (2, 1), (1, 2), (0, 1)]
    assert raster.distance(raster.index(3, 0), raster.index(1, 2)) == 4
    assert raster.distance(middle, middle) == 0


def test_path_goes_round_an_obstacle_and_joins_start_to_goal() -> None:
    raster = Raster(3, 3)
    occupied = raster.empty()
    occupied[raster.index(1, 0)] = occupied[raster.index(1, 1)] = 1
    path = shortest_path(occupied, [raster.index(0, 0)], {raster.index(2, 0)}, raster.steps)
    assert path is not None
    assert [raster.position(cell) for cell in path] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 2),
        (2, 2),
        (2, 1),
        (2, 0),
    ]


def test_nearest_goal_wins_and_a_start_may_be_the_goal() -> None:
    raster = Raster(5, 1)
    starts = [raster.index(0, 0)]
    goals = {raster.index(2, 0), raster.index(4, 0)}
    path = shortest_path(raster.empty(), starts, goals, raster.steps)
    assert path == [raster.index(x, 0) for x in range(3)]
    assert shortest_path(raster.empty(), starts, set(starts), raster.steps) == starts


def test_no_path_leaves_the_grid_or_passes_a_wall() -> None:
    raster = Raster(3, 3)
    occupied = raster.empty()
    for y in range(3):
        occupied[raster.index(1, y)] = 1
    goals = {raster.index(2, 1)}
    assert shortest_path(occupied, [raster.index(0, 1)], goals, raster.steps) is None
