-- Queues and timers, whose changes wake somebody up.

local announced_at = {}
local announced_count = 0
local ANNOUNCED_MAX = 10000
local GROWING_MS = 1000

-- Tells that a queue grew: at once when it opened, otherwise now and then.
local function announce(prefix, lane, score, registration, opened)
  local of_lane = inner(announced_at, lane)
  local before = of_lane[prefix]
  if not opened and before and now - before < GROWING_MS and now >= before then return end
  if not before then
    announced_count = announced_count + 1
    if announced_count > ANNOUNCED_MAX then
      of_lane = {}
      announced_at, announced_count = {[lane] = of_lane}, 1
    end
  end
  of_lane[prefix] = now
  hint('e ' .. prefix .. ' ' .. generation .. ' ' .. integer(changes[prefix] or 0) .. ' ' .. score .. ' ' .. registration)
end

-- Whether as many budget sets as may have a queue of their own stand beside this one.
local function is_crowded(prefix, lane, group, sets_max)
  local family = lane .. ' ' .. group .. ' '
  local siblings = call('ZLEXCOUNT', prefix .. QUEUES, '[' .. family, '(' .. family .. '~')
  if siblings < sets_max then return false end
  local alone = family .. '0 '
  return siblings - call('ZLEXCOUNT', prefix .. QUEUES, '[' .. alone, '(' .. alone .. '~') >= sets_max
end

-- The queue a record enters: its own, or the one that very many budget sets share.
-- queue: {set, lane, group, registration, shared set, shared registration, sets_max}; the last three only with budgets.
local function queue_for(prefix, queue)
  if queue[5] and is_empty(prefix .. queue[1]) and is_crowded(prefix, queue[2], queue[3], queue[7]) then
    return queue[5], queue[6]
  end
  return queue[1], queue[4]
end

-- Between which names a queue is registered, by its set: what was worked out once is remembered, as long as it is little.
local ranges, range_count, RANGES_MAX = {}, 0, 1000

local function registration_range(set)
  local range = ranges[set]
  if not range then
    local lane, group, budgets = string.match(set, '^queue:(.*):(%x+)%.(%x+)$')
    local entry = lane .. ' ' .. group .. ' ' .. budgets
    if range_count == RANGES_MAX then ranges, range_count = {}, 0 end
    range = {'[' .. entry .. ' ', '(' .. entry .. '!'}
    ranges[set], range_count = range, range_count + 1
  end
  return range[1], range[2]
end

-- Forgets a queue that is empty.
local function unregister(prefix, set)
  call('ZREMRANGEBYLEX', prefix .. QUEUES, registration_range(set))
end

-- Enters a queue of a lane with some places: 'ZADD', score, name …; the best score is told.
local function enter(prefix, lane, set, registration, places, best)
  local key = prefix .. set
  local opened = is_empty(key)
  add_all(key, places)
  if opened then call('ZADD', prefix .. QUEUES, 0, registration) end
  announce(prefix, lane, best, registration, opened)
end

-- Whether a lane has no room for so many more queues.
local function is_full(prefix, lane, more, queues_max)
  return more + call('ZLEXCOUNT', prefix .. QUEUES, '[' .. lane .. ' ', '(' .. lane .. '!') > queues_max
end

-- Queues that were left: whether they are empty shows when the call is done.
local left = {}

local function leave(prefix, name, set)
  remove_from(prefix .. set, name)
  left[prefix .. set] = {prefix, set}
end

local function settle_queue(prefix, set)
  if is_empty(prefix .. set) then unregister(prefix, set) end
end

local function settle_queues()
  for key, queue in pairs(left) do finish_with(key, settle_queue, queue[1], queue[2]) end
  left = {}
end

-- Moves a record from its place to another, and answers the set that is in and the score; without a score there is none.
local function move(prefix, name, set_before, score_before, score, queue)
  if set_before ~= '' then
    -- While it waits it stays in the queue it entered, be it shared or its own.
    if score_before == score and (set_before == queue[1] or set_before == queue[5]) then return set_before, score end
    leave(prefix, name, set_before)
  end
  if not score then return '', '' end
  local set, registration = queue_for(prefix, queue)
  enter(prefix, queue[2], set, registration, {'ZADD', score, name}, score)
  return set, score
end

-- The first timer of each partition that somebody was told of. The one who was told looks then, and tells us what is first
-- after that.
local first_due = {}

-- Tells of a timer that comes before the first one, or has come.
local function tell_due(prefix, at)
  local moment, first = tonumber(at), first_due[prefix]
  if moment <= now or not first or moment < first then
    first_due[prefix] = moment
    hint('d ' .. prefix .. ' ' .. at)
  end
end

-- Sets or clears a timer.
local function schedule(prefix, name, before, at)
  if before == at then return end
  if at == '' then
    remove_from(prefix .. DUE, name)
    return
  end
  add_to(prefix .. DUE, at, name)
  tell_due(prefix, at)
end

-- Makes a record due at once, with a new stamp. One that waits already keeps its place.
local function nudge(prefix, name)
  local stamp = call('HINCRBY', prefix .. STAMPS, 'last', 1)
  call('HSET', prefix .. STAMPS, name, stamp)
  call('ZADD', prefix .. NUDGED, 'NX', now_text, name)
  hint('d ' .. prefix .. ' ' .. now_text)
end

local function forget_nudge(prefix, name)
  if call('HDEL', prefix .. STAMPS, name) == 1 then call('ZREM', prefix .. NUDGED, name) end
end
