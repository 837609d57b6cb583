"""Games and settings that searches are compared on."""

NARROW = {"num_simulations": 32, "max_num_considered_actions": 4}
NARROW_DEEP = {"num_simulations": 64, "max_num_considered_actions": 4}

# name: (knobs of the game, settings)
CONFIGURATIONS = {
    "one_simulation": ({}, {"num_simulations": 1}),
    "one_considered": ({}, {"num_simulations": 5, "max_num_considered_actions": 1}),
    "sixteen_considered": ({}, {"num_simulations": 16}),
    "more_considered_than_actions": ({}, {"num_simulations": 16, "max_num_considered_actions": 32}),
    "odd_budget": ({}, {"num_simulations": 23, "max_num_considered_actions": 6}),
    "narrow": ({}, NARROW),
    "narrow_deep": ({}, NARROW_DEEP),
    "flat_prior": ({"peak": 0.0}, NARROW),
    "flat_prior_deep": ({"peak": 0.0}, NARROW_DEEP),
    "peaked_prior": ({"peak": 16.0}, NARROW),
    "very_peaked_prior_deep": ({"peak": 128.0}, NARROW_DEEP),
    "ties_everywhere": ({"peak": 0.0, "reward": 0.0, "value": 0.0}, NARROW),
    "few_legal_interior": ({"legal": 0.125}, NARROW_DEEP),
    "all_edges_terminal": ({"terminal": 1.0}, NARROW),
    "no_edge_terminal": ({"terminal": 0.0, "discount": 0.997}, NARROW_DEEP),
    "undiscounted_without_reward": ({"terminal": 0.0, "discount": 1.0, "reward": 0.0}, NARROW),
    "negative_discount": ({"discount": -0.97}, NARROW),
    "large_values": ({"value": 1024.0, "reward": 64.0}, NARROW),
    "depth_1": ({}, {**NARROW, "max_depth": 1}),
    "depth_2": ({}, {**NARROW_DEEP, "max_depth": 2}),
    "depth_2_peaked_visits_leaves_again": ({"peak": 128.0}, {**NARROW_DEEP, "max_depth": 2}),
    "depth_5_peaked": ({"peak": 16.0, "terminal": 0.0}, {**NARROW_DEEP, "max_depth": 5}),
    "depth_beyond_budget": ({}, {"num_simulations": 8, "max_depth": 50}),
    "rescaled": ({}, {**NARROW_DEEP, "value_scale": 0.1, "rescale_values": True}),
    "rescaled_flat": ({"peak": 0.0}, {**NARROW_DEEP, "value_scale": 0.1, "rescale_values": True}),
    "rescaled_peaked": (
        {"peak": 16.0},
        {**NARROW_DEEP, "value_scale": 0.1, "rescale_values": True},
    ),
    "raw_value_completion_small_scale": (
        {},
        {**NARROW, "use_mixed_value": False, "value_scale": 0.3, "maxvisit_init": 10.0},
    ),
    "full_action_space": ({"num_actions": 1729, "peak": 8.0}, {"num_simulations": 32}),
    "full_action_space_deep": ({"num_actions": 1729, "peak": 32.0}, NARROW_DEEP),
}
