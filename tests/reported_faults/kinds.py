"""The kinds of fault that users reported of tools like this one, each with the tests that show it cannot happen here.

A report is a sample; the kind is what must be impossible. Numbers are labels alone and have gaps. Most tests stand with
the room whose rule they hold, and this table finds them; `test_kinds.py` fails where one of them is gone. What a kind
asks for and this program does not have is said in its `limit`.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """One kind of fault: what went wrong elsewhere, and `FILE::TEST` under `tests/` of everything that keeps it out."""

    number: int
    fault: str
    tests: tuple[str, ...]
    limit: str = ""
    """What of the kind does not apply to this program, and why; empty where all of it does."""


HERE = "reported_faults/test_repository_kinds.py"
USAGE = "reported_faults/test_usage_kinds.py"
GIT = "git/test_reported_faults.py"
SHAPES = "git/test_repository_shapes.py"
KEPT = "maintenance/test_reported_faults.py"
CUE = "cue/test_cue_command.py"
SAVINGS = "m2_summary/test_reported_faults.py"

FRESHNESS = (
    Kind(
        1,
        "a refresh without a change of content keeps the old commit, so that fresh rows stay flagged as stale",
        (
            f"{HERE}::test_a_no_change_refresh_advances_the_basis_commit",
            f"{KEPT}::test_a_refresh_without_a_change_of_content_advances_the_basis",
            f"{KEPT}::test_committing_what_was_indexed_as_dirty_advances_the_basis",
            f"{GIT}::test_a_commit_without_content_change_still_moves_the_basis",
        ),
    ),
    Kind(
        2,
        "refreshing a part advances the commit of the whole, which hides that other files are stale",
        (
            f"{HERE}::test_a_refresh_in_a_subfolder_hides_no_other_stale_file",
            f"{KEPT}::test_a_refresh_is_of_the_whole_repository_from_whatever_folder",
        ),
        "There is no refresh of a part: each one is of the whole repository.",
    ),
    Kind(
        3,
        "one answer says both that it is fresh and that its cache is stale",
        (
            f"{HERE}::test_no_answer_says_fresh_and_stale_at_once",
            f"{KEPT}::test_one_verdict_is_made_after_the_answer_was_read",
        ),
    ),
    Kind(
        4,
        "another commit marks files as stale that it did not touch",
        (
            f"{KEPT}::test_untouched_files_are_not_changed_by_another_commit",
            f"{GIT}::test_untouched_files_keep_their_identity_over_commits",
        ),
    ),
    Kind(
        6,
        "after a switch of branches the old branch is served without a warning",
        (
            f"{CUE}::test_a_cue_after_a_branch_switch_warns_instead_of_showing_the_old_branch_silently",
            f"{KEPT}::test_a_switched_branch_is_noticed_and_followed",
            f"{GIT}::test_a_branch_switch_is_never_missed",
        ),
    ),
    Kind(
        7,
        "a state is shown under a label of another moment than the one it was captured at",
        (
            f"{HERE}::test_the_moment_on_a_cue_is_that_of_its_capture_and_not_of_its_printing",
            f"{CUE}::test_time_passing_and_cues_before_it_do_not_change_a_cue",
        ),
    ),
    Kind(
        9,
        "a rename adds the new path and leaves what the old one had",
        (
            f"{HERE}::test_after_renames_and_copies_a_refresh_ends_where_a_rebuild_does",
            f"{KEPT}::test_after_a_rename_the_old_path_is_gone",
            "git/test_kept_contents.py::test_any_order_of_edits_and_scans_ends_where_a_first_scan_does",
        ),
    ),
    Kind(
        11,
        "what an older version of an extractor derived is kept after an upgrade, since only contents are the key",
        (
            f"{KEPT}::test_another_version_of_the_language_library_is_not_mixed_in",
            "git/test_kept_contents.py::test_what_was_kept_without_its_rules_is_not_trusted",
        ),
    ),
)

DETERMINISM = (
    Kind(
        12,
        "two runs with nothing changed give different bytes, which a provider's prompt cache cannot use",
        (f"{CUE}::test_the_same_state_gives_the_same_bytes_under_any_hash_seed_locale_and_time_zone",),
    ),
    Kind(
        13,
        "the whole artifact depends on the hash seed or on sampling",
        (
            f"{KEPT}::test_rows_and_summary_do_not_depend_on_the_hash_seed",
            f"{CUE}::test_two_caches_of_one_checkout_differ_in_nothing_but_the_time",
        ),
    ),
    Kind(
        14,
        "a few volatile characters early in the text spoil the common prefix of consecutive answers",
        (
            f"{CUE}::test_consecutive_cues_share_everything_before_the_first_member_that_changed",
            "cache/test_wire.py::test_the_shared_prefix_of_two_cache_steps_ends_after_the_first_block",
        ),
        "The frozen order of members puts the snapshot's number early; cached prompts put sources first instead.",
    ),
)

SIZE = (
    Kind(
        15,
        "a huge repository is scanned again on every request",
        (
            f"{GIT}::test_a_second_scan_costs_what_changed_and_not_what_is_there",
            "maintenance/test_lifecycle.py::test_a_run_without_a_change_reads_no_file_row",
            "git/test_processes.py::test_a_process_that_hangs_is_ended_in_time",
        ),
        "A scan is one state or none and is not resumed halfway.",
    ),
    Kind(
        16,
        "a walk over a virtual environment or its like hangs the start, though it is ignored",
        (
            f"{GIT}::test_ignored_and_tracked_build_folders_are_not_walked",
            f"{SHAPES}::test_ignored_folders_are_not_part_of_the_state",
        ),
    ),
    Kind(
        17,
        "long work shows nothing and has no bound",
        (
            "cli/test_frame.py::test_long_work_shows_progress_on_a_terminal_alone_and_takes_it_away",
            "git/test_processes.py::test_progress_is_told_while_git_works_and_before_files_are_read",
            "git/test_processes.py::test_a_process_that_hangs_is_ended_in_time",
        ),
        "There is no partial result: an observation is of every tracked file, or an error.",
    ),
    Kind(
        18,
        "one large generated file takes all memory",
        (
            f"{GIT}::test_a_huge_generated_file_is_hashed_in_little_memory",
            "git/test_content.py::test_reading_is_bounded",
        ),
        "No file is skipped for its size: git streams it to make its digest.",
    ),
    Kind(
        19,
        "thousands of tracked build files pin the processor; a branch without a commit is an error",
        (
            f"{GIT}::test_ignored_and_tracked_build_folders_are_not_walked",
            f"{KEPT}::test_a_repository_without_a_commit_has_a_state",
        ),
        "Tracked build files are tracked files and are listed as such; no heuristic leaves any out.",
    ),
)

BUDGETS = (
    Kind(
        21,
        "a budget is a suggestion that answers exceed several times over",
        (
            f"{CUE}::test_a_budget_is_a_hard_cap_and_the_smallest_is_named",
            "cue/test_fitting.py::test_a_document_never_exceeds_its_budget_and_tells_its_own_size",
        ),
    ),
    Kind(
        22,
        "one tokenizer's count is shown as if it held for every model",
        (
            f"{HERE}::test_a_token_count_of_a_cue_is_called_an_estimate_and_names_its_rule",
            "architecture/test_absences.py::test_the_core_names_no_agent_model_or_tokenizer",
        ),
    ),
    Kind(
        23,
        "a silent fallback to an estimate is mixed with measured counts and overstates savings",
        (
            f"{HERE}::test_a_token_count_of_a_cue_is_called_an_estimate_and_names_its_rule",
            "m2_summary/test_figures.py::test_sizes_of_cues_are_observed_and_their_estimates_stand_apart",
            "m2_summary/test_figures.py::test_an_estimated_value_enters_no_statistics_and_costs_only_its_own_coverage",
            "calibration/test_arithmetic.py::test_an_estimated_agent_cost_never_enters_a_pair",
        ),
    ),
    Kind(
        24,
        "a budget that cannot be kept is not a failure that a script could see",
        (f"{CUE}::test_a_budget_is_a_hard_cap_and_the_smallest_is_named",),
        "No option is needed for it: a budget that nothing fits ends with exit code 1.",
    ),
)

CONTENTS = (
    Kind(
        25,
        "names come quoted from git and are then not found",
        (
            "git/test_names.py::test_a_reported_fault_odd_names_are_observed_in_every_state",
            f"{CUE}::test_hostile_names_are_shown_in_valid_json_as_git_shows_them",
        ),
    ),
    Kind(
        26,
        "a name that is not UTF-8 ends the run",
        (
            "git/test_names.py::test_every_name_comes_back_from_its_text",
            "git/test_names.py::test_a_reported_fault_odd_names_are_observed_in_every_state",
            f"{CUE}::test_hostile_names_are_shown_in_valid_json_as_git_shows_them",
            f"{SHAPES}::test_a_branch_name_that_is_not_utf8",
        ),
    ),
    Kind(27, "a file in a legacy encoding ends the run", (f"{GIT}::test_a_file_in_any_encoding_is_bytes",)),
    Kind(
        31,
        "brackets and braces in a path are taken for a pattern",
        (
            f"{GIT}::test_names_with_pattern_characters_are_names",
            f"{CUE}::test_a_path_filters_a_delta_literally",
            "cue/test_projections.py::test_a_path_is_literal_text_and_no_pattern",
        ),
    ),
    Kind(
        32,
        "a rename of case alone doubles or loses an entry",
        (
            f"{KEPT}::test_a_file_whose_case_alone_changed_is_one_file",
            "git/test_file_shapes.py::test_a_case_only_rename",
        ),
    ),
)

STATES = (
    Kind(
        33,
        "a submodule ends the run or makes the listing empty",
        (
            f"{GIT}::test_gitlinks_without_a_submodule_are_listed_with_their_commit",
            f"{SHAPES}::test_a_submodule_that_is_clean_dirty_or_not_initialised",
        ),
    ),
    Kind(
        35,
        "a sparse checkout or a newer form of the index is taken for damage",
        (
            f"{SHAPES}::test_a_sparse_checkout_lists_what_it_leaves_out_and_is_not_dirty",
            f"{SHAPES}::test_a_sparse_index_shows_the_same_entries_as_a_full_one",
            f"{SHAPES}::test_every_index_version",
        ),
    ),
    Kind(
        36,
        "a detached head or a branch without a commit ends the run",
        (
            f"{SHAPES}::test_a_detached_head",
            f"{SHAPES}::test_an_unborn_repository_with_staged_and_untracked_files",
            f"{GIT}::test_a_repository_without_commits_has_no_head_to_compare_with",
            f"{CUE}::test_repositories_in_odd_states_are_cued",
        ),
    ),
    Kind(
        38,
        "a repository of another owner ends in git's own complaint",
        ("git/test_unreadable.py::test_a_reported_fault_dubious_ownership_is_an_error_with_the_line_that_allows_it",),
    ),
    Kind(
        39,
        "variables of a git hook lead to another repository than the one that was named",
        (
            f"{KEPT}::test_variables_of_a_git_hook_do_not_lead_to_another_repository",
            "git/test_finding.py::test_a_reported_fault_location_variables_of_a_hook_do_not_lead_elsewhere",
        ),
    ),
    Kind(
        41,
        "every hash differs where a checkout converts line endings",
        (
            f"{GIT}::test_a_checkout_with_crlf_line_endings_is_clean",
            "git/test_file_shapes.py::test_line_endings_are_converted_as_git_add_converts_them",
        ),
    ),
    Kind(
        42,
        "a database that is locked or cannot be written ends the session with the library's own error",
        (
            "store/test_database.py::test_a_locked_database_is_busy_after_the_bounded_wait",
            "store/test_database.py::test_each_code_of_the_library_has_its_error",
            "store/test_database.py::test_a_read_only_cache_is_read_without_writing_anything",
            f"{CUE}::test_a_cue_from_a_cache_that_cannot_be_written_is_given_and_said_not_to_be_recorded",
        ),
    ),
    Kind(
        44,
        "a background git leaves its lock, and the user's own command fails",
        (
            f"{GIT}::test_another_commands_lock_neither_stops_us_nor_is_left_by_us",
            f"{KEPT}::test_a_locked_index_neither_stops_a_refresh_nor_is_left_behind",
        ),
    ),
)

USAGE_KINDS = (
    Kind(
        45,
        "the first record of a streamed message is kept, whose output is only what had begun",
        (f"{USAGE}::test_output_is_not_that_of_the_first_record_of_a_streamed_message",),
    ),
    Kind(
        46,
        "records that repeat a message are counted again",
        (
            f"{USAGE}::test_records_that_repeat_a_message_are_counted_once",
            "runners/test_mutated_streams.py::test_a_turn_that_stands_twice_is_an_error_not_twice_the_tokens",
            "calibration/test_refusals.py::test_the_same_runs_in_other_bytes_do_not_count_twice",
        ),
    ),
    Kind(
        47,
        "the tokens of sub-agents are dropped",
        (
            f"{USAGE}::test_the_tokens_of_a_sub_agent_are_counted_once",
            "runners/test_claude_rules.py::test_several_models_are_added_up_and_told",
        ),
    ),
    Kind(
        48,
        "a replay of earlier events, or counters that run on over turns, inflate the total many times",
        (
            f"{USAGE}::test_a_replayed_stream_is_refused",
            "runners/test_mutated_streams.py::test_a_turn_that_stands_twice_is_an_error_not_twice_the_tokens",
            "runners/test_claude_rules.py::test_a_session_of_two_turns_counts_each_since_the_last_result",
        ),
    ),
    Kind(
        49,
        "cached input is a part of input and is added to it again",
        (
            f"{USAGE}::test_cached_input_that_is_a_part_of_input_is_not_added_again",
            "runners/test_codex_rules.py::test_subsets_are_never_added_to_the_total",
            "runners/test_claude_rules.py::test_input_is_the_sum_of_the_three_disjoint_parts",
        ),
    ),
    Kind(
        50,
        "reads from and writes to a cache are billed twice",
        (
            "cache/test_money.py::test_one_request_worked_by_hand",
            "cache/test_money.py::test_an_independent_price_library_agrees_to_the_last_digit",
        ),
    ),
    Kind(
        51,
        "reasoning that is a part of output is added to it; a dearer tier is priced as the plain one",
        (
            f"{SAVINGS}::test_cached_and_reasoning_tokens_are_parts_and_are_counted_once",
            "cache/test_usage.py::test_thinking_is_a_part_of_output_and_more_of_it_is_refused",
            "cache/test_message.py::test_what_changes_the_price_beyond_the_rates_is_named",
        ),
    ),
    Kind(
        52,
        "after a retry or a resumed run only the new part is in the total",
        (
            "cache/test_summary.py::test_unfinished_and_missing_attempts_are_visible_and_suppress_the_complete_total",
            "evaluate_task/test_verdicts.py::test_the_first_journaled_pair_of_a_cell_counts_whatever_became_of_it",
            "m2/test_experiments.py::test_a_later_run_that_fails_keeps_the_earlier_sets_and_resuming_makes_the_rest",
        ),
        "What an agent's program does not report of a request that was cut cannot be in any total; the cut is told.",
    ),
)

SAVINGS_KINDS = (
    Kind(
        53,
        "the side that always ran first paid for warming a cache, and a tool that was never called came out cheaper",
        (
            f"{SAVINGS}::test_a_warm_cache_of_those_that_ran_later_is_not_taken_for_a_gain",
            "m2/test_experiments.py::test_balanced_orders_form_a_latin_square_whose_first_row_is_the_fixed_order",
            "cue/test_projections.py::test_a_placebo_has_the_state_and_no_content",
            "m2_summary/test_figures.py::test_uncached_input_stands_beside_input",
        ),
    ),
    Kind(
        54,
        "a mean of ratios overstates, and a printed ratio does not follow from printed columns",
        (
            f"{SAVINGS}::test_a_ratio_is_of_medians_and_not_a_mean_of_ratios",
            "m2_summary/test_text.py::test_every_printed_ratio_divides_out_from_printed_columns",
            "calibration/test_arithmetic.py::test_the_median_of_differences_is_not_the_difference_of_medians",
        ),
    ),
    Kind(
        55,
        "the side without the tool could still call it",
        (
            f"{SAVINGS}::test_a_direct_run_that_used_the_tool_is_not_the_other_side_of_any_pair",
            "runners/test_contamination.py::test_calls_of_repocue_and_reads_of_its_cache_contaminate",
            "calibration/test_importing.py::test_a_contaminated_run_is_kept_and_does_not_count",
        ),
    ),
    Kind(
        56,
        "more tokens with the tool than without are not shown",
        (f"{SAVINGS}::test_a_loss_is_shown_as_one",),
        "An agent is handed a cue as text, so that no schema of a tool costs it anything.",
    ),
    Kind(
        57,
        "context lowers success while savings are claimed",
        (
            "m2_summary/test_groups.py::test_cheaper_and_worse_is_no_saving",
            "m2_summary/test_groups.py::test_only_fifteen_reports_with_a_blinded_assessment_of_each_allow_a_verdict",
            "cache/test_pairs.py::test_one_failed_answer_fails_the_pair_and_one_unknown_leaves_it_unknown",
        ),
        "Whether a cue helps a given agent is measured by an evaluation and claimed by no test.",
    ),
)

KINDS = FRESHNESS + DETERMINISM + SIZE + BUDGETS + CONTENTS + STATES + USAGE_KINDS + SAVINGS_KINDS
