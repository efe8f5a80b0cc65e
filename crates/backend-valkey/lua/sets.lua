-- Sorted sets and counts that a call changes. What goes into one set travels in one command, when the call is done or when
-- somebody has to look at the set before: a batch of submissions costs one ZADD per set, not one per execution.

-- By key: the command, and what comes behind the key.
local pending = {}
local depth_moved = {}

local VALUES_MAX = 1000

-- Writes what waits for a set.
local function settle_set(key)
  local waiting = pending[key]
  if not waiting then return end
  pending[key] = nil
  for first = 2, #waiting, VALUES_MAX do
    call(waiting[1], key, unpack(waiting, first, math.min(first + VALUES_MAX - 1, #waiting)))
  end
end

local function waiting_for(command, key)
  local waiting = pending[key]
  if waiting and waiting[1] == command then return waiting end
  settle_set(key)
  waiting = {command}
  pending[key] = waiting
  return waiting
end

local function add_to(key, score, member)
  local waiting = waiting_for('ZADD', key)
  local n = #waiting
  waiting[n + 1], waiting[n + 2] = score, member
end

-- The same for many at once: 'ZADD', score, member …; nobody else uses that row any more.
local function add_all(key, row)
  if not pending[key] then
    pending[key] = row
    return
  end
  for at = 2, #row, 2 do add_to(key, row[at], row[at + 1]) end
end

local function remove_from(key, member)
  local waiting = waiting_for('ZREM', key)
  waiting[#waiting + 1] = member
end

-- Whether a set has nothing in it, with all that this call did to it.
local function is_empty(key)
  local waiting = pending[key]
  if waiting and waiting[1] == 'ZADD' then return false end
  settle_set(key)
  return call('EXISTS', key) == 0
end

local function inner(map, key)
  local found = map[key]
  if not found then
    found = {}
    map[key] = found
  end
  return found
end

-- The values of any number of fields, in order.
local function values_of(key, fields)
  if #fields <= VALUES_MAX then return call('HMGET', key, unpack(fields)) end
  local values = {}
  for first = 1, #fields, VALUES_MAX do
    local found = call('HMGET', key, unpack(fields, first, math.min(first + VALUES_MAX - 1, #fields)))
    for i = 1, #found do values[first + i - 1] = found[i] end
  end
  return values
end

-- Moves counters of a hash, and answers their new values. In a row from a place on: n names, then how far each moves. Two commands
-- move any number of them, so few are moved one by one.
local function move_counters(key, row, at, n)
  local values = {}
  if n <= 2 then
    for i = at, at + n - 1 do values[#values + 1] = call('HINCRBY', key, row[i], row[i + n]) end
    return values
  end
  local found, written = call('HMGET', key, unpack(row, at, at + n - 1)), {}
  for i = 1, n do
    values[i] = tonumber(found[i] or 0) + row[at + n + i - 1]
    written[2 * i - 1], written[2 * i] = row[at + i - 1], values[i]
  end
  call('HSET', key, unpack(written))
  return values
end

-- Counts executions by state, so many at once. lane: "<namespace>/<lane>"
local function count_depth(prefix, lane, before, after, count)
  if before == after then return end
  local lanes = inner(depth_moved, prefix)
  local moved = lanes[lane]
  if not moved then
    -- States that most executions go through.
    moved = {waiting = 0, active = 0, completed = 0, waiting_children = 0}
    lanes[lane] = moved
  end
  moved[before] = (moved[before] or 0) - count
  moved[after] = (moved[after] or 0) + count
end

local function settle_depth(prefix, lanes)
  for name, moved in pairs(lanes) do
    local namespace, lane = string.match(name, '^([^/]*)/(.*)$')
    local row, n = {}, 0
    for state, by in pairs(moved) do
      if by ~= 0 and state ~= '' then
        n = n + 1
        table.insert(row, n, lane .. ' ' .. state)
        row[2 * n] = by
      end
    end
    move_counters(prefix .. DEPTH .. namespace, row, 1, n)
  end
end

-- Writes everything that still waits.
local function settle_sets()
  for key in pairs(pending) do finish_with(key, settle_set, key) end
  for prefix, lanes in pairs(depth_moved) do finish_with(prefix, settle_depth, prefix, lanes) end
  pending, depth_moved = {}, {}
end
