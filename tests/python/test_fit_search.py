"""The numbers of a fit: least squares within bounds, intervals, and directions that residuals do not tell apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxloom.fitting.search import Solution, Vector, along, as_good, search, softened, uncertainty

MIDDLE = [np.full(2, 0.5)]
MATRIX = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])


def linear(matrix: Vector, truth: Vector):  # type: ignore[no-untyped-def]
    return lambda point: matrix @ (point - truth)


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_a_linear_problem_is_solved(first: float, second: float) -> None:
    truth = np.array([first, second])
    found = search(linear(MATRIX, truth), MIDDLE, 60)
    assert found.at == pytest.approx(truth, abs=0.01)
    assert found.evaluations <= 60
    assert found.settled


def test_a_best_value_beyond_the_range_is_its_end() -> None:
    found = search(linear(MATRIX, np.array([1.4, 0.3])), MIDDLE, 60)
    assert found.at[0] == pytest.approx(1, abs=0.01)
    # With the first at its end the other makes the best of both: 2 (2 y - 0.6) + (y - 0.7) = 0.
    assert found.at[1] == pytest.approx((1.2 + 0.7) / 5, abs=0.02)


def test_of_several_valleys_a_start_finds_the_deepest() -> None:
    def valleys(point: Vector) -> Vector:
        x = float(point[0])
        return np.array([min(abs(x - 0.1) + 0.5, abs(x - 0.9) * 2)])

    starts = [np.array([0.05]), np.array([0.8])]
    assert search(valleys, starts, 40).at[0] == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("limit", [0.08, 0.3, 0.45])
def test_a_value_that_just_limits_is_found_from_where_it_changes_nothing(limit: float) -> None:
    """A peak is the least of two bandwidths: where the second is more than the first no slope leads down to it."""

    def peaks(point: Vector) -> Vector:
        time, bandwidth = point
        return np.array([time - 0.6, 0.8 * (min(0.5, bandwidth) - limit)])

    starts = [np.array([0.5, 0.9]), np.array([0.4, 0.7])]
    found = search(peaks, starts, 60)
    assert found.at == pytest.approx(np.array([0.6, limit]), abs=0.02)
    assert found.evaluations <= 60


def test_no_point_is_played_twice_and_the_budget_holds() -> None:
    seen: list[tuple[float, ...]] = []

    def residuals(point: Vector) -> Vector:
        seen.append(tuple(point))
        return np.sin(7 * point) + 2

    assert not search(residuals, MIDDLE, 12).settled
    assert len(seen) == len(set(seen))
    assert len(seen) <= 12 + 4  # the derivatives of the last point besides


def test_deviations_are_those_of_least_squares() -> None:
    residuals = np.array([0.1, -0.1, 0.1])
    known = uncertainty(Solution(np.full(2, 0.5), residuals, MATRIX, 1), noise=0.0, measured=3)
    covariance = np.linalg.inv(MATRIX.T @ MATRIX) * (residuals @ residuals) / (3 - 2)
    assert known.deviations == pytest.approx(np.sqrt(np.diag(covariance)))
    assert known.weak == ()


def test_residuals_that_only_bound_something_are_no_measurements() -> None:
    """Bounds that hold have residuals of 0, whatever was measured: three more of them tell nothing."""
    residuals = np.array([0.1, -0.1, 0.1, 0.0, 0.0, 0.0])
    matrix = np.vstack([MATRIX, np.zeros((3, 2))])
    known = uncertainty(Solution(np.full(2, 0.5), residuals, matrix, 1), noise=0.0, measured=3)
    without = uncertainty(Solution(np.full(2, 0.5), residuals[:3], MATRIX, 1), noise=0.0, measured=3)
    assert known.deviations == pytest.approx(without.deviations)


def test_intervals_hold_as_often_as_they_say() -> None:
    """A line through noisy points, beside bounds that hold: 95 % of the intervals have the true slope in them."""
    from scipy.stats import t

    x = np.linspace(-1, 1, 8)
    draw = np.random.default_rng(1)
    matrix = np.vstack([np.column_stack([np.ones(8), x]), np.zeros((8, 2))])
    inside = 0
    for _ in range(1000):
        measured = draw.normal(0, 0.01, 8)
        at = np.array([measured.mean(), measured @ x / (x @ x)])
        residuals = np.concatenate([at[0] + at[1] * x - measured, np.zeros(8)])
        known = uncertainty(Solution(at, residuals, matrix, 1), noise=0.0, measured=8)
        inside += bool(abs(at[1]) <= t.ppf(0.975, 8 - 2) * known.deviations[1])
    assert 930 <= inside <= 970


def test_a_rough_function_of_a_sum_tells_the_sum_alone() -> None:
    """Over a twentieth of a range a step is a derivative that differs; over a long way it is next to nothing."""
    steps = 0.01 * np.array([0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0])

    def rough(point: Vector) -> Vector:
        residuals: Vector = np.full(8, point.sum() - 1) + steps * (point[0] >= 0.35)
        return residuals

    best = np.array([0.3, 0.7])
    columns = [(rough(best + step) - rough(best)) / 0.05 for step in 0.05 * np.eye(2)]
    solution = Solution(best, rough(best), np.column_stack(columns), 1)
    assert uncertainty(solution, noise=0.0, measured=8).weak == ()
    (line,) = uncertainty(solution, 0.0, 8, rough).weak
    assert abs(line[0] + line[1]) < 0.1


def test_what_two_parameters_do_apart_is_told_over_a_long_way_too() -> None:
    matrix = np.array([[1.0, 0.8], [1.0, 1.2], [1.0, 1.0]])
    best = np.array([0.3, 0.7])
    solution = Solution(best, np.zeros(3), matrix, 1)
    assert uncertainty(solution, 0.0, 3, linear(matrix, best)).weak == ()


def test_noise_bounds_what_is_known() -> None:
    """A perfect fit of noisy residuals is no exact one."""
    exact = Solution(np.full(2, 0.5), np.zeros(3), MATRIX, 1)
    known = uncertainty(exact, noise=0.01, measured=3)
    assert known.deviations == pytest.approx(0.01 * np.sqrt(np.diag(np.linalg.inv(MATRIX.T @ MATRIX))))
    # Derivatives over a twentieth of the range have 28 times the noise, over all residuals.
    assert len(uncertainty(exact, noise=0.1, measured=3).weak) == 2


def test_parameters_that_act_alike_are_a_weak_direction() -> None:
    matrix = np.array([[1.0, 1.0], [2.0, 2.0], [0.5, 0.5]])
    known = uncertainty(Solution(np.full(2, 0.5), np.full(3, 0.01), matrix, 1), noise=0.0, measured=3)
    (line,) = known.weak
    assert abs(line[0] + line[1]) < 1e-6
    assert np.isinf(known.deviations).all()
    low, high = along(np.array([0.3, 0.5]), line)
    assert sorted([low[0], high[0]]) == pytest.approx([0, 0.8])
    assert low + high == pytest.approx(np.array([0.8, 0.8]))


def test_a_parameter_without_effect_is_not_known() -> None:
    matrix = np.array([[1.0, 0.0], [2.0, 0.0]])
    known = uncertainty(Solution(np.full(2, 0.5), np.full(2, 0.01), matrix, 1), noise=0.0, measured=2)
    assert np.isfinite(known.deviations[0])
    assert np.isinf(known.deviations[1])


def test_values_as_good_as_the_best_are_found_to_a_part_of_the_range() -> None:
    def flat_above(point: Vector) -> Vector:
        return np.array([max(0.0, 0.4 - float(point[0]))])

    solution = Solution(np.array([0.7]), np.zeros(1), np.zeros((1, 1)), 1)
    low, high = as_good(flat_above, solution, 0, 1e-6)
    assert high == 1
    assert 0.4 - 1e-3 <= low <= 0.4 + 1 / 32


@given(st.floats(-1e-3, 1e-3), st.floats(10, 1000))
def test_small_errors_stay_and_large_ones_count_less(small: float, large: float) -> None:
    assert float(softened(np.array([small]), 0.05)[0]) == pytest.approx(small, rel=1e-3, abs=1e-12)
    soft = float(softened(np.array([-large]), 0.05)[0])
    assert soft == pytest.approx(-np.sqrt(2 * 0.05 * large), rel=0.01)
