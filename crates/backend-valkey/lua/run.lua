-- Runs: transactions of one partition that each write one execution, all of the same lane into the same state, and nothing but what
-- comes with it. What they write stands in columns, ready for the commands it goes into: a run costs few values and tables.
--
-- A run is done as a whole. If one of its transactions finds anything but what it needs, nothing is done and all of them are asked
-- to come again one by one: transaction.lua says what becomes of each.
--
-- Where the columns stand in a run is generated from the list in src/commit/run.rs:
--   prefix, lane, state       of all of them
--   about                     what stands between a name and a line in the feed; false: there are no lines
--   names                     of the records
--   versions                  each with a space behind it, which must be there; false: the records must not exist
--   rows                      head, body, line of history or false, what the feed is told instead or false, number of the argument
--                             with the bytes or false, end of a stream or false: "<attempt index> <at> <reason>"
--   field, content_type       what the bytes are; false: of the usual type
--   created, places, dues     scores: in the set of executions, in the queue, timers; false: none of them
--   best, first_due           the first place, the first timer
--   leaves, enters            members of the index that go, and that come
--   queue, queues_max         the number of the queue that is entered, how many a lane may have or false
--   not_after                 the first moment at which one of them is too late

local WIDTH = 6

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

local function create(run, key, head, body, line, argument)
  call('HSET', key, 'head', head, 'body', body, line_and_bytes(run, 1, line, argument))
end

local function replace(run, key, found, head, body, line, argument, stream_end)
  local prefix, lines = run[RUN.prefix], tonumber(found[2]) or 0
  call('HSET', key, 'head', head, 'body', body, line_and_bytes(run, lines + 1, line, argument))
  if line then trim_lines(key, lines, lines + 1) end
  local state, set = string.match(found[1], '^%S+ %S* (%S*) (%S*)')
  count_depth(prefix, run[RUN.lane], state, run[RUN.state], 1)
  if set ~= '' then leave(prefix, string.sub(key, #prefix + 1), set) end
  if stream_end and found[3] then
    end_stream(prefix, string.match(key, '[^:]*$'), string.match(stream_end, '^(%S+) (%S+) (%S*)$'))
  end
end

local function write_all(run, keys, found)
  local prefix, names, rows, about = run[RUN.prefix], run[RUN.names], run[RUN.rows], run[RUN.about]
  local is_new, told, said = not run[RUN.versions], nil, nil
  for i = 1, #keys do
    local head, body, line, event, argument, stream_end = unpack(rows, WIDTH * (i - 1) + 1, WIDTH * i)
    if is_new then
      create(run, keys[i], head, body, line, argument)
    else
      replace(run, keys[i], found[i], head, body, line, argument, stream_end)
    end
    if line then
      -- Many are told the same.
      if told ~= (event or line) then
        told = event or line
        said = about .. told
      end
      tell(prefix, names[i], said)
    end
  end
  if is_new then count_depth(prefix, run[RUN.lane], '', run[RUN.state], #keys) end
end

-- Scores with their names, the last one first: what is newer stands further behind in most sets, and a short set is searched from its
-- beginning, so what goes before the one before it is placed at once.
local function with_names(scores, names)
  local row, n = {'ZADD'}, 1
  for i = #names, 1, -1 do
    if scores[i] then
      row[n + 1], row[n + 2] = scores[i], names[i]
      n = n + 2
    end
  end
  return row
end

local function move_all(run, queue)
  local prefix, names, dues = run[RUN.prefix], run[RUN.names], run[RUN.dues] or NONE
  if run[RUN.created] then add_all(prefix .. EXECUTIONS, with_names(run[RUN.created], names)) end
  if queue then enter(prefix, queue[2], queue[1], queue[4], with_names(run[RUN.places], names), run[RUN.best]) end
  for _, member in ipairs(run[RUN.leaves] or NONE) do remove_from(prefix .. INDEX, member) end
  for _, member in ipairs(run[RUN.enters] or NONE) do add_to(prefix .. INDEX, '0', member) end
  for i = 1, run[RUN.versions] and #names or 0 do
    if not dues[i] then remove_from(prefix .. DUE, names[i]) end
  end
  if run[RUN.dues] then
    add_all(prefix .. DUE, with_names(dues, names))
    tell_due(prefix, run[RUN.first_due])
  end
end

local function write_run(run, queues)
  local prefix, queue, keys = run[RUN.prefix], queues[run[RUN.queue]], {}
  for i, name in ipairs(run[RUN.names]) do keys[i] = prefix .. name end
  local too_late = run[RUN.not_after] and now >= run[RUN.not_after]
  local went_well, found = pcall(find_all, keys, run[RUN.versions])
  if too_late or not went_well or not found or (queue and not may_enter(run, queue)) then return {'again'} end
  has_begun = true
  local answer = {'ok', changed(prefix)}
  write_all(run, keys, found)
  move_all(run, queue)
  return answer
end
