-- due: the first entries of the timers and nudges of some partitions.
--
-- ask[4]: how many of each   ask[5]: prefixes
-- answers, one each: {timers, nudges}, each a list of name, moment, name, moment …

offer('due', function(ask)
  local answers = {}
  for i, prefix in ipairs(ask[5]) do
    local timers = call('ZRANGE', prefix .. DUE, 0, ask[4] - 1, 'WITHSCORES')
    first_due[prefix] = tonumber(timers[2])
    answers[i] = {timers, call('ZRANGE', prefix .. NUDGED, 0, ask[4] - 1, 'WITHSCORES')}
  end
  return answers
end, {'no-writes'})
