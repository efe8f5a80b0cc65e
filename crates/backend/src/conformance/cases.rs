//! The one list of cases; the tests of a backend and the registry are both made from it.

use super::*;

/// Hands the list to the macro `$with`, after `$args`.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_cases {
    ($with:path, $args:tt) => {
        $with! { $args
            commit {
                a_new_record_is_read_back_with_its_first_version,
                a_replaced_record_has_the_next_version_and_the_new_tag,
                every_kind_of_record_comes_back_as_it_was_written,
                one_stale_record_refuses_the_whole_transaction,
                a_conflict_names_the_record_and_the_version_it_has,
                the_first_record_that_changed_is_the_one_reported,
                a_version_with_another_tag_is_another_version,
                tags_keep_all_their_bits,
                a_record_that_must_not_exist_is_not_overwritten,
                a_record_that_is_gone_is_not_replaced,
                a_deleted_record_is_gone_and_may_be_created_anew,
                a_delete_of_another_version_is_refused,
                a_commit_is_refused_from_its_not_after_on,
                a_commit_lands_before_its_not_after,
                versions_are_compared_before_not_after,
                malformed_transactions_are_refused_and_do_nothing,
                a_blob_written_again_is_replaced,
                a_blob_of_an_execution_that_does_not_exist_is_not_kept,
                a_blob_goes_with_its_execution,
            }
            later {
                what_is_not_known_comes_back_as_it_was_written,
                a_hand_out_leaves_what_is_not_known,
                what_is_not_known_of_an_attempt_goes_where_the_attempt_goes,
            }
            load {
                what_does_not_exist_is_absent,
                loads_are_answered_in_order_and_each_from_its_own_partition,
                a_load_never_sees_half_of_a_commit,
                the_gate_of_a_member_comes_along,
                a_gate_is_read_at_the_moment_of_its_members,
            }
            guards {
                a_guard_that_holds_moves_no_version,
                a_guard_on_a_changed_record_refuses_the_commit,
                a_guard_compares_the_tag_too,
                a_guard_on_an_absent_record_holds_until_it_is_created,
                a_guard_on_a_record_that_is_gone_refuses_the_commit,
                two_commits_that_guard_on_each_other_never_both_land,
            }
            generations {
                a_commit_with_the_generation_that_was_read_lands,
                a_commit_of_another_generation_is_refused_and_does_nothing,
                generations_are_compared_before_versions,
            }
            ttl {
                a_record_with_a_time_to_live_is_there_until_then,
                a_record_is_gone_after_its_time_to_live,
                a_record_whose_time_is_over_may_be_created_again,
                the_time_to_live_starts_again_with_the_record,
                records_without_a_time_to_live_stay,
            }
            remains {
                blobs_history_streams_and_counters_go_with_the_execution,
                the_feed_outlives_the_execution_it_names,
                the_remains_of_others_stay,
            }
            counters {
                counters_move_with_their_commit_and_the_reply_says_where_they_stand,
                a_counter_that_never_moved_is_answered_as_zero,
                every_counter_counts_for_itself,
                counters_of_a_refused_commit_stay,
                moves_of_many_callers_add_up,
            }
            nudges {
                a_nudged_record_is_due_at_once_and_keeps_its_version,
                a_nudge_stays_until_it_is_cleared_by_its_stamp,
                a_newer_nudge_survives_the_clearing_of_an_older_one,
                a_nudge_at_zero_counts_what_the_transaction_left,
                a_refused_commit_nudges_nobody_and_clears_nothing,
                a_cleared_nudge_leaves_the_timer,
                nudges_of_records_not_asked_for_are_not_read,
            }
            unknown {
                a_repeated_replacement_finds_its_own_tag,
                a_repeated_creation_finds_its_own_tag,
                a_repeated_deletion_finds_nothing,
                a_repeated_commit_counts_and_tells_nothing_twice,
                the_writing_of_another_is_told_from_ones_own,
                a_commit_whose_caller_went_away_landed_whole_or_not_at_all,
            }
            batch {
                every_transaction_is_answered_in_its_place,
                one_that_fails_does_not_keep_the_others_from_landing,
                a_batch_may_span_partitions,
                an_empty_batch_has_no_answers,
                a_thousand_transactions_land_in_one_call,
            }
            reserve_order {
                a_higher_priority_comes_first,
                the_older_comes_first_among_equals,
                the_id_decides_among_executions_of_one_moment,
                the_order_holds_across_the_queues_of_a_partition,
                the_order_holds_across_partitions,
                lanes_are_tried_in_the_order_they_are_named,
                a_changed_priority_moves_an_execution_in_its_queue,
                a_released_execution_goes_back_to_its_old_place,
                claimants_are_used_in_order_and_no_more_than_there_are,
            }
            reserve_fields {
                a_solo_execution_is_leased_as_the_rules_say,
                timeouts_and_deadlines_come_with_the_lease,
                a_short_lease_time_is_kept,
                a_released_attempt_goes_on_at_its_next_claim,
                a_failed_attempt_is_followed_by_a_new_one,
                whoever_asks_for_a_grant_gets_a_grant,
                budgets_and_quotas_leave_a_grant_that_is_not_admitted,
                a_member_behind_an_open_gate_is_leased_and_counted,
                a_member_behind_a_closed_gate_is_only_promised,
                the_gate_comes_with_the_version_to_guard_on,
                what_is_handed_out_is_bounded_in_bytes,
                a_short_handful_says_whether_there_may_be_more,
                one_task_is_handed_out_however_large_it_is,
            }
            reserve_match {
                a_worker_gets_what_it_offers_everything_for,
                work_never_crosses_namespaces,
                work_of_lanes_not_named_is_left_alone,
                work_under_a_closed_cause_is_skipped,
                what_is_not_eligible_is_not_handed_out,
                blocked_work_is_eligible_again_once_it_is_unblocked,
                one_queue_too_many_is_refused,
                only_submissions_are_limited_in_their_queues,
                an_emptied_queue_makes_room_for_another,
                budget_sets_without_number_share_a_queue,
            }
            reserve_race {
                no_two_workers_get_the_same_execution,
                a_cancellation_and_a_reservation_never_both_win,
            }
            reserve_cost {
                ten_thousand_executions_nobody_can_run_cost_a_claim_nothing,
            }
            due {
                nothing_is_due_before_its_moment,
                the_longest_overdue_of_all_partitions_comes_first,
                a_full_page_says_when_the_next_is_due,
                partitions_not_asked_for_are_left_out,
                a_written_record_is_due_at_its_new_moment_only,
                a_deleted_record_is_not_due,
                waitpoints_and_flows_have_timers_too,
                a_nudged_record_is_due_among_the_overdue,
            }
            list {
                executions_are_listed_newest_first_over_all_partitions,
                rows_that_stay_are_seen_once_while_others_come_and_go,
                a_listing_of_nothing_is_empty,
                a_cursor_that_is_none_is_refused,
                a_cursor_of_another_listing_is_refused,
            }
            ranges {
                every_list_holds_what_the_facts_say_in_its_order,
                a_range_begins_and_ends_where_it_is_asked_to,
                a_range_goes_on_after_any_place,
                a_record_of_several_lists_comes_once,
                heads_are_the_first_of_the_lists_that_have_anything,
                rows_that_stay_are_seen_once_while_others_move,
            }
            entries {
                a_record_may_enter_a_list_that_it_stands_in,
                an_entry_whose_record_is_gone_shows_nothing,
                an_audit_tells_which_lists_a_record_is_missing_in,
            }
            queues {
                queued_work_is_found_under_its_budgets_best_first,
                whatever_waits_is_in_one_of_the_queues_there_are,
                lanes_are_listed_by_name_with_their_depths,
            }
            sweeps {
                namesakes_of_other_partitions_are_told_apart,
                all_partitions_are_swept_in_one_listing,
                rows_that_stay_are_seen_once_while_work_comes_and_goes,
            }
            feed {
                lines_are_kept_in_the_order_they_were_committed,
                a_line_comes_back_as_it_was_told,
                each_subject_has_its_own_history,
                the_last_thousand_lines_of_an_execution_are_kept,
                positions_only_grow,
                each_partition_has_its_own_feed,
                a_reader_goes_on_where_it_stopped,
                what_a_call_says_of_many_is_read_one_by_one,
                the_feeds_of_many_partitions_are_read_in_one_call,
                a_busy_feed_starves_no_other,
                a_feed_is_read_from_a_moment_on,
                a_reader_that_fell_too_far_behind_is_told,
                a_reader_that_saw_what_never_was_is_told_whose_feed_it_is,
                a_reader_that_slept_for_a_day_misses_nothing_in_silence,
                a_reader_is_told_of_what_went_before_it_saw_any,
            }
            audit {
                indexes_follow_the_facts_through_random_lives,
            }
            model {
                random_transactions_do_what_the_simplest_store_does,
            }
            budgets {
                a_budget_is_created_once,
                a_budget_that_was_never_created_is_refused,
                usage_above_a_limit_is_recorded_and_answered,
                a_repeated_report_counts_once_within_its_window,
                identities_of_two_kinds_or_budgets_never_meet,
                an_effect_that_is_sent_again_counts_once_and_is_answered,
                a_reset_starts_again_from_zero_once_per_request,
                a_periodic_reset_happens_before_the_report_that_finds_it,
                a_periodic_reset_is_due_at_its_moment,
                an_opened_budget_with_blocked_work_is_due_at_once,
                a_new_generation_is_hinted,
                a_deleted_budget_is_still_read_but_counts_nothing,
                budgets_are_listed_by_id_within_their_namespace,
                reports_of_many_callers_add_up,
                of_many_reports_with_one_identity_one_counts,
            }
            budget_model {
                random_calls_answer_what_the_rules_say,
            }
            quotas {
                a_policy_is_created_once,
                a_policy_that_was_never_created_is_refused,
                no_more_slots_are_taken_than_there_are,
                one_grant_takes_one_slot_however_often_it_asks,
                an_attempt_takes_one_place_in_the_window,
                a_refusal_says_when_the_window_has_moved,
                what_is_refused_takes_nothing,
                a_grant_released_before_it_asked_is_too_late,
                a_slot_is_freed_once,
                a_freed_slot_moves_the_generation_and_is_hinted,
                a_policy_is_due_when_there_is_room_for_waiting_work,
                old_slots_are_listed_to_be_checked,
                a_changed_limit_holds_at_once,
                a_deleted_policy_is_due_until_all_slots_are_back,
            a_deleted_policy_limits_nothing,
                a_limit_of_nothing_admits_nobody,
                policies_are_listed_by_id_within_their_namespace,
                the_cap_holds_among_many_callers,
                the_window_holds_among_many_callers,
                of_many_asks_under_one_grant_one_takes_the_slot,
            }
            quota_model {
                random_calls_answer_what_the_rules_say,
            }
            between {
                reports_between_two_calls_come_before_or_after,
                admissions_between_two_calls_come_before_or_after,
            }
            ledger {
                random_calls_answer_what_integers_say,
                malformed_calls_are_refused_and_do_nothing,
                accounts_are_listed_by_key_within_their_namespace,
                whoever_waits_is_told_that_a_generation_moved,
                an_earlier_look_is_hinted,
                calls_of_many_callers_add_up,
            }
            frames {
                frames_come_back_in_the_order_they_were_appended,
                a_frame_comes_back_as_it_was_given,
                a_batch_is_answered_in_order_each_frame_for_itself,
                only_the_whole_fence_of_the_live_lease_appends,
                an_expired_lease_appends_nothing,
                a_renewed_lease_goes_on_appending,
                a_revoked_lease_appends_nothing,
                an_ended_stream_says_so_and_takes_no_more,
                a_stream_without_frames_does_not_end,
                a_range_is_read_with_both_its_ends,
                only_so_many_frames_are_kept,
                frames_are_kept_only_so_long,
                a_best_effort_frame_is_gone_after_its_time,
                a_summary_is_replaced_only_from_the_revision_it_has,
                other_frames_leave_the_summary_alone,
                of_two_summaries_at_once_one_wins,
            }
            frame_keys {
                a_frame_under_a_key_is_appended_once,
                a_repeated_frame_needs_the_live_lease_too,
                a_repeated_summary_is_not_touched_again,
                a_key_is_free_again_once_its_frame_is_gone,
                each_stream_has_its_own_keys,
                of_many_frames_under_one_key_one_is_appended,
            }
            settings {
                a_setting_is_read_back_as_it_was_written,
                a_setting_is_written_only_if_it_is_what_was_expected,
                a_setting_is_deleted_only_if_it_is_what_was_expected,
                a_revision_is_never_given_twice,
                a_setting_is_gone_after_its_time,
                a_setting_written_again_has_a_new_time,
                settings_are_listed_by_prefix_in_order,
                several_operations_are_answered_in_order,
                of_many_writers_of_one_revision_one_wins,
            }
            hints {
                new_work_is_hinted_to_its_lane,
                work_that_comes_back_is_hinted_to_its_lane,
                an_earlier_timer_is_hinted,
                a_lease_is_hinted_by_when_it_ends,
                a_nudge_is_hinted_as_due,
                a_growing_feed_is_hinted,
                a_growing_and_an_ending_stream_is_hinted,
                marks_move_when_a_feed_or_a_stream_does_and_stand_still_otherwise,
                a_changed_setting_is_hinted,
                every_listener_hears_every_hint,
            }
            steps {
                they_come_in_the_order_in_which_they_were_recorded,
                more_than_nine_of_them_come_in_order_too,
                outputs_come_along_while_they_fit,
                a_name_that_is_taken_is_a_conflict,
                one_that_is_replaced_has_its_new_place,
                one_that_is_deleted_is_gone_and_the_remains_take_the_outputs,
            }
            payloads {
                an_input_comes_back_byte_for_byte,
                a_result_comes_back_byte_for_byte,
                a_signal_comes_back_byte_for_byte,
                a_frame_comes_back_byte_for_byte,
                a_summary_comes_back_byte_for_byte,
            }
            clock {
                advancing_moves_the_clock_of_every_partition,
                every_reply_carries_a_time_that_never_goes_back,
                a_commit_that_was_in_time_is_too_late_after_the_clock_moved,
                a_reservation_is_stamped_with_the_clock_as_it_was_moved,
            }
        }
    };
}

macro_rules! registry {
    (() $($subject:ident { $($case:ident,)+ })+) => {
        /// Every case, in the order of the list.
        pub fn cases() -> Vec<Case> {
            vec![$($(Case {
                subject: stringify!($subject),
                name: stringify!($case),
                run: |harness| Box::pin(async move { super::$subject::$case(&build::Store::of(harness)).await }),
            },)+)+]
        }
    };
}

conformance_cases! { registry, () }
