-- Budgets. The rules of a usage report are those of core/src/machine/budget, function by function.
--
-- use_budgets: reports usage and reads, in order. read_budgets: the same with readings only.
-- ask[4]: items, each {prefix, id} for a reading, or {prefix, id, deltas, names, effect id or false}
--   deltas: dimension, amount, dimension, amount …, sorted   names: identity, window_ms, identity, window_ms …
-- answers, one each: the fields as name, value …, or {outcome, excesses}
--   outcome: not_found, gone, already_applied, ok, soft, hard   excesses: {dimension, current, limit} …
--
-- put_budget: what put_limit takes; answers false, or the fields of a budget that has another revision

-- The names of this file end with it: only 200 may be known at a time.
do

local AMOUNT_MAX = 9007199254740991
local DIMENSIONS_MAX = 64

local function spent(fields, dimension)
  return tonumber(fields['usage:' .. dimension] or 0)
end

-- Budget::closed_by: whether a hard limit is reached.
local function is_closed(fields)
  for field, limit in pairs(fields) do
    local dimension = string.match(field, '^hard:(.*)$')
    if dimension and limit ~= '' and spent(fields, dimension) >= tonumber(limit) then return true end
  end
  return false
end

-- due_at
local function budget_due_at(budget)
  local fields = budget.fields
  local release
  if fields.blocked_in and (fields.deleted_at or not is_closed(fields)) then release = tonumber(fields.generation_at) end
  local due = earlier_of(release, tonumber(fields.stop_next_sweep_at))
  due = earlier_of(due, tonumber(fields.withdrawal_since))
  return earlier_of(due, tonumber(fields.next_reset_at))
end

-- start_again. What nothing is spent of is not breached, so the order to stop ends too, and is withdrawn.
local function start_again(fields)
  for field in pairs(fields) do
    if string.sub(field, 1, 6) == 'usage:' then fields[field] = nil end
  end
  if fields.stop_since then
    fields.withdrawal_since, fields.withdrawal_generation = now_text, fields.stop_generation
  end
  fields.stop_since, fields.stop_generation, fields.stop_next_sweep_at = nil, nil, nil
  move_generation(fields)
end

-- settle
local function settle(fields)
  local interval, due = tonumber(fields.reset_interval_ms), tonumber(fields.next_reset_at)
  if not interval or not due or due > now then return end
  local passed = now - due
  fields.next_reset_at = integer(math.min(due + passed - passed % interval + interval, MOMENT_MAX))
  start_again(fields)
end

-- add_usage
local function add_usage(fields, deltas)
  local counted = 0
  for field in pairs(fields) do
    if string.sub(field, 1, 6) == 'usage:' then counted = counted + 1 end
  end
  for i = 1, #deltas, 2 do
    local dimension, amount = deltas[i], deltas[i + 1]
    local is_counted = fields['usage:' .. dimension]
    if is_counted or fields['hard:' .. dimension] or counted < DIMENSIONS_MAX then
      if not is_counted then counted = counted + 1 end
      -- A sum that is not exact is above the highest amount in any case.
      fields['usage:' .. dimension] = integer(math.min(spent(fields, dimension) + amount, AMOUNT_MAX))
    end
  end
end

-- The dimensions of a report that are above their limits of one kind.
local function excesses_of(fields, deltas, kind)
  local excesses = {}
  for i = 1, #deltas, 2 do
    local dimension = deltas[i]
    local limit, current = fields[kind .. ':' .. dimension], spent(fields, dimension)
    if limit and limit ~= '' and current > tonumber(limit) then
      excesses[#excesses + 1] = {dimension, integer(current), limit}
    end
  end
  return excesses
end

-- judge: hard limits first.
local function judge_usage(fields, deltas)
  for _, kind in ipairs({'hard', 'soft'}) do
    local excesses = excesses_of(fields, deltas, kind)
    if #excesses > 0 then return kind, excesses end
  end
  return 'ok', {}
end

-- note_breach
local function note_breach(fields, kind, first)
  local breaches = kind .. '_breaches'
  fields[breaches] = integer(tonumber(fields[breaches]) + 1)
  fields.last_breach = kind .. ' ' .. table.concat(first, ' ') .. ' ' .. now_text
  if kind == 'hard' and fields.on_hard_limit == 'cancel_active' and not fields.stop_since then
    fields.stop_since, fields.stop_generation, fields.stop_next_sweep_at = now_text, fields.generation, now_text
  end
end

-- Whether a report was counted before under one of its names, and whether by the very same effect. The moment decides; that
-- the key goes away only saves memory.
local function seen_before(seen, names, effect)
  local is_seen, is_sent_again = false, false
  for i = 1, #names, 2 do
    local seen_until, by = string.match(call('GET', seen .. names[i]) or '', '^(%d+) ?(.*)$')
    if seen_until and tonumber(seen_until) > now then
      is_seen = true
      if effect and by == effect then is_sent_again = true end
    end
  end
  return is_seen, is_sent_again
end

local function remember(seen, names, effect)
  for i = 1, #names, 2 do
    local window_ms = names[i + 1]
    if window_ms > 0 then
      call('SET', seen .. names[i], moment_in(window_ms) .. ' ' .. (effect or ''), 'PX', integer(window_ms))
    end
  end
end

-- report_usage
local function report_usage(touched, item)
  local prefix, id, deltas, names, effect = unpack(item)
  local fields = touch(touched, prefix, 'budget:' .. id).fields
  if not fields.revision then return {'not_found', {}} end
  if fields.deleted_at then return {'gone', {}} end
  local seen = prefix .. 'seen:' .. id .. ':'
  local is_seen, is_sent_again = seen_before(seen, names, effect)
  if is_seen and not is_sent_again then return {'already_applied', {}} end
  settle(fields)
  if is_sent_again then return {judge_usage(fields, deltas)} end
  add_usage(fields, deltas)
  local outcome, excesses = judge_usage(fields, deltas)
  if outcome ~= 'ok' then note_breach(fields, outcome, excesses[1]) end
  remember(seen, names, effect)
  return {outcome, excesses}
end

local function use_budgets(ask)
  local touched, answers = {}, {}
  for i, item in ipairs(ask[4]) do
    if item[3] then
      answers[i] = report_usage(touched, item)
    else
      answers[i] = fields_of(touched, item[1], 'budget:' .. item[2])
    end
  end
  for _, budget in pairs(touched) do write_limit(budget, budget_due_at) end
  return answers
end

offer('use_budgets', use_budgets)
offer('read_budgets', use_budgets, {'no-writes'})

offer('put_budget', function(ask)
  local budget = put_limit(ask)
  if not budget then return call('HGETALL', ask[4] .. ask[5]) end
  write_limit(budget, budget_due_at)
  return false
end)

end
