-- read: any reading commands, all at one moment.
--
-- ask[4]: commands, each with its arguments        answers their replies

offer('read', function(ask)
  local answers = {}
  for i, command in ipairs(ask[4]) do answers[i] = call(unpack(command)) end
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
