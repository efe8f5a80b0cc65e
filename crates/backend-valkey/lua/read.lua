-- read: any reading commands, all at one moment.
--
-- ask[4]: commands, each with its arguments        answers their replies
--
-- Some of them are ours:
--   HEADS index first end       {the first member, how many there are} of each list between two names, one after the other
--   FIRSTS queue span           the score of the first of each priority, which is worth such a span of scores
--   LINES record first most     {how many lines of history were ever told, line …} from the first, or the oldest that is kept
--   LISTED index first end count prefix field …   {members, records}: members between two names, and these fields of the record
--                               whose name each ends with
--   AUDIT record prefix name    {head, body, expires, due, score in its queue, how that is registered}
-- The first two skip from one to the next, however long it is.

local ours = {}

function ours.HEADS(_, key, first, last)
  local found = {}
  local member = call('ZRANGEBYLEX', key, first, last, 'LIMIT', 0, 1)[1]
  while member do
    -- "!" comes right after the space that ends the name of a list.
    local name = string.match(member, '^%S+')
    found[#found + 1] = member
    found[#found + 1] = call('ZLEXCOUNT', key, '[' .. name .. ' ', '(' .. name .. '!')
    first = '(' .. name .. '!'
    member = call('ZRANGEBYLEX', key, first, last, 'LIMIT', 0, 1)[1]
  end
  return found
end

-- Priorities of a queue that are looked at; more in one queue are not expected.
local PRIORITIES_MAX = 64

function ours.FIRSTS(_, key, span)
  local found, from = {}, '-inf'
  while #found < PRIORITIES_MAX do
    local first = call('ZRANGE', key, from, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
    if not first then break end
    found[#found + 1] = first
    from = integer((math.floor(first / span) + 1) * span)
  end
  return found
end

function ours.LINES(_, key, first, most)
  local told = tonumber(call('HGET', key, 'lines') or 0)
  first = math.max(first, told - HISTORY_LINES_MAX + 1)
  local fields = {}
  for number = first, math.min(first + most - 1, told) do fields[#fields + 1] = FIELDS_OF_HISTORY .. integer(number) end
  local lines = #fields > 0 and call('HMGET', key, unpack(fields)) or {}
  return {told, unpack(lines)}
end

function ours.LISTED(_, key, first, last, count, prefix, ...)
  local members, records = call('ZRANGE', key, first, last, 'BYLEX', 'LIMIT', 0, count), {}
  for i, member in ipairs(members) do records[i] = call('HMGET', prefix .. string.match(member, '%S+$'), ...) end
  return {members, records}
end

function ours.AUDIT(_, key, prefix, name)
  local found = call('HMGET', key, 'head', 'body', 'expires')
  local _, _, _, set = string.match(found[1] or '', HEAD_PARTS)
  set = set and set ~= '' and set
  found[4] = call('ZSCORE', prefix .. DUE, name)
  found[5] = set and call('ZSCORE', prefix .. set, name)
  found[6] = set and call('ZRANGEBYLEX', prefix .. QUEUES, registration_range(set))[1]
  return found
end

offer('read', function(ask)
  local answers = {}
  for i, command in ipairs(ask[4]) do
    local run = ours[command[1]] or call
    answers[i] = run(unpack(command))
  end
  return answers
end, {'no-writes'})

-- changes: how often each partition was written to here, and since when that is counted. A sweep looks only into
-- partitions where this has moved.
--
-- answers {since, prefix, count, prefix, count …}

local counted_since
local counted_at

-- Counts begin anew on a node that nobody asked for so long: it may have been a replica meanwhile.
local UNASKED_MS = 90000

offer('changes', function()
  if not counted_at or now - counted_at > UNASKED_MS or now < counted_at then counted_since = generation .. now_text end
  counted_at = now
  local answers = {counted_since}
  for prefix, count in pairs(changes) do
    answers[#answers + 1] = prefix
    answers[#answers + 1] = integer(count)
  end
  return answers
end, {'no-writes'})
