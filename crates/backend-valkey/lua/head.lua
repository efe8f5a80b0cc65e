-- The head of a record: everything the functions look at, in one field that is read and written as one.
--
-- "<version> <due> <state> <set of its queue> <score there> <rest>", nothing between the spaces where there is nothing. The state is
-- that of an execution or a gate; the rest is what an execution is and its attempt (src/record/attempt.rs), or the own member of the
-- index of another record. In a second line stands the claim that is not part of the body yet: what is written next takes it away.

local HEAD_PARTS = '^(%S*) (%S*) (%S*) (%S*) (%S*) (.*)$'

local function write_head(version, due, state, set, score, rest)
  return version .. ' ' .. due .. ' ' .. state .. ' ' .. set .. ' ' .. score .. ' ' .. rest
end
