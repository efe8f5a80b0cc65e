-- commit: unrelated transactions, each all or nothing.
--
-- ask[4]: transactions, see transaction.lua; queues stand in them as numbers   ask[5]: runs of transactions, see run.lua
-- ask[6]: the queues that are entered, see queue_for
-- answers {of transactions, of runs}, one each: {'ok', changes of the partition so far, counters…}
--   | {'conflict', number of the expectation, version or ''} | {'too_late'} | {'too_many_queues'} | {'generation'}
--   | {'unreadable', why}: what it depends on is not what it should be, and nothing was done
--   | {'torn', why}: the same was found in the middle of it; what was written before that stays
--   | {'again'}: a run of which nothing was done

-- Tells whoever was torn when the call was finished; the others are whole.
local function tell_torn(asked, answers)
  for i, tx in ipairs(asked) do
    local problem = torn[tx[1]]
    if problem and answers[i][1] == 'ok' then answers[i] = {'torn', problem} end
  end
end

-- Tries each of some transactions or runs.
local function try_each(asked, try)
  local answers = {}
  for i, tx in ipairs(asked) do
    has_begun = false
    local went_well, answer = pcall(try, tx)
    answers[i] = went_well and answer or {has_begun and 'torn' or 'unreadable', reason(answer)}
  end
  return answers
end

local function commit(ask)
  local transactions, runs, queues = ask[4] or NONE, ask[5] or NONE, ask[6] or NONE
  for _, tx in ipairs(transactions) do
    local puts = tx[5] or {}
    tx[5] = puts
    for at = 1, #puts, PUT_WIDTH do
      if puts[at + 6] then puts[at + 7] = queues[puts[at + 7]] end
    end
  end
  local of_runs = try_each(runs, function(run) return write_run(run, queues) end)
  local answers = try_each(transactions, attempt)
  finish()
  tell_torn(transactions, answers)
  tell_torn(runs, of_runs)
  torn = {}
  return {answers, of_runs}
end

offer('commit', commit)
