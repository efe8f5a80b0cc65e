-- Runs: transactions of one partition that each write one execution, all of the same lane into the same state, and nothing but what
-- comes with it. What they write stands in columns, ready for the commands it goes into: a run costs few values and tables.
--
-- A run is done as a whole. If one of its transactions finds anything but what it needs, nothing is done and all of them are asked
-- to come again one by one: transaction.lua says what becomes of each.
--
-- Where the columns stand in a run is generated from the list in src/commit/run.rs:
--   prefix, lane, state       of all of them
--   keys                      of the records
--   versions                  each with a space behind it, which must be there; false: the records must not exist
--   rows                      head, body, line of history or false, number of the argument with the bytes or false, end of a stream or
--                             false: "<attempt index> <at> <reason>"
--   field, content_type       what the bytes are; false: of the usual type
--   created, places, enters   scores and members of the set of executions, of the queue, and of the index
--   leaves                    members of the index that go
--   dues, first_due, undue    timers and names; the first of them; names that have none
--   queue, best, queues_max   the number of the queue that is entered, the best score, how many a lane may have or false
--   feed, told                lines for the feed, and how many
--   not_after                 the first moment at which one of them is too late

local WIDTH = 5

-- What stands of each record; nil when one is not as it must be.
local function find_all(keys, versions)
  if not versions then return call('EXISTS', unpack(keys)) == 0 and NONE or nil end
  local found = {}
  for i = 1, #keys do
    local kept = call('HMGET', keys[i], 'head', 'lines', 'streams')
    if not kept[1] or string.find(kept[1], versions[i], 1, true) ~= 1 then return nil end
    found[i] = kept
  end
  return found
end

local function may_enter(run, queue)
  local most, prefix = run[RUN.queues_max], run[RUN.prefix]
  return not most or not is_empty(prefix .. queue[1]) or not is_full(prefix, queue[2], 1, most)
end

local function bytes_of(run, argument)
  if not argument then return end
  local field, kind = run[RUN.field], run[RUN.content_type]
  if kind then return field, arguments[argument], field .. '_type', kind end
  return field, arguments[argument]
end

-- The fields of the nth line of a record, and those of its bytes.
local function line_and_bytes(run, number, line, argument)
  if not line then return bytes_of(run, argument) end
  return 'lines', number, FIELDS_OF_HISTORY .. number, line, bytes_of(run, argument)
end

local function create_all(run)
  local keys, rows, lane = run[RUN.keys], run[RUN.rows], run[RUN.lane]
  for i = 1, #keys do
    local head, body, line, argument = unpack(rows, WIDTH * (i - 1) + 1, WIDTH * i - 1)
    call('HSET', keys[i], 'head', head, 'body', body, 'lane', lane, line_and_bytes(run, 1, line, argument))
  end
  add_all(run[RUN.prefix] .. EXECUTIONS, run[RUN.created])
  count_depth(run[RUN.prefix], lane, '', run[RUN.state], #keys)
end

local function replace(run, key, found, head, body, line, argument, stream_end)
  local prefix, lines = run[RUN.prefix], tonumber(found[2]) or 0
  -- What reserve wrote beside the last body is part of this one.
  call('HSET', key, 'head', head, 'body', body, 'claim', '', line_and_bytes(run, lines + 1, line, argument))
  if line then trim_lines(key, lines, lines + 1) end
  local state, set = string.match(found[1], '^%S+ %S* (%S*) (%S*)')
  count_depth(prefix, run[RUN.lane], state, run[RUN.state], 1)
  if set ~= '' then leave(prefix, string.sub(key, #prefix + 1), set) end
  if stream_end and found[3] then
    end_stream(prefix, string.match(key, '[^:]*$'), string.match(stream_end, '^(%S+) (%S+) (%S*)$'))
  end
end

local function replace_all(run, found)
  local keys, rows = run[RUN.keys], run[RUN.rows]
  for i = 1, #keys do replace(run, keys[i], found[i], unpack(rows, WIDTH * (i - 1) + 1, WIDTH * i)) end
end

local function move_all(run, queue)
  local prefix = run[RUN.prefix]
  if queue then enter(prefix, queue[2], queue[1], queue[4], run[RUN.places], run[RUN.best]) end
  for _, member in ipairs(run[RUN.leaves] or NONE) do remove_from(prefix .. INDEX, member) end
  if run[RUN.enters] then add_all(prefix .. INDEX, run[RUN.enters]) end
  for _, name in ipairs(run[RUN.undue] or NONE) do remove_from(prefix .. DUE, name) end
  if run[RUN.dues] then
    add_all(prefix .. DUE, run[RUN.dues])
    tell_due(prefix, run[RUN.first_due])
  end
end

local function write_run(run, queues)
  local prefix, queue = run[RUN.prefix], queues[run[RUN.queue]]
  local too_late = run[RUN.not_after] and now >= run[RUN.not_after]
  local went_well, found = pcall(find_all, run[RUN.keys], run[RUN.versions])
  if too_late or not went_well or not found or (queue and not may_enter(run, queue)) then return {'again'} end
  has_begun = true
  local answer = {'ok', changed(prefix)}
  if run[RUN.versions] then replace_all(run, found) else create_all(run) end
  move_all(run, queue)
  if run[RUN.feed] then feed_many(prefix, run[RUN.feed], run[RUN.told]) end
  return answer
end
