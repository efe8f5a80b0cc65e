-- Sorted sets and counts that a call changes. What goes into one set travels in one command, when the call is done or when
-- somebody has to look at the set before: a batch of submissions costs one ZADD per set, not one per execution.

local pending = {}
local depth_moved = {}

local VALUES_MAX = 1000

-- Writes what waits for a set.
local function settle_set(key)
  local waiting = pending[key]
  if not waiting then return end
  pending[key] = nil
  for first = 1, #waiting, VALUES_MAX do
    call(waiting.command, key, unpack(waiting, first, math.min(first + VALUES_MAX - 1, #waiting)))
  end
end

local function waiting_for(command, key)
  local waiting = pending[key]
  if waiting and waiting.command == command then return waiting end
  settle_set(key)
  waiting = {command = command}
  pending[key] = waiting
  return waiting
end

local function add_to(key, score, member)
  local waiting = waiting_for('ZADD', key)
  local n = #waiting
  waiting[n + 1], waiting[n + 2] = score, member
end

local function remove_from(key, member)
  local waiting = waiting_for('ZREM', key)
  waiting[#waiting + 1] = member
end

-- Whether a set has nothing in it, with all that this call did to it.
local function is_empty(key)
  local waiting = pending[key]
  if waiting and waiting.command == 'ZADD' then return false end
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

-- Counts executions by state. lane: "<namespace>/<lane>"
local function count_depth(prefix, lane, before, after)
  if before == after then return end
  local moved = inner(inner(depth_moved, prefix), lane)
  moved[before] = (moved[before] or 0) - 1
  moved[after] = (moved[after] or 0) + 1
end

local function settle_depth(prefix, lanes)
  for name, moved in pairs(lanes) do
    local namespace, lane = string.match(name, '^([^/]*)/(.*)$')
    for state, by in pairs(moved) do
      if by ~= 0 and state ~= '' then call('HINCRBY', prefix .. DEPTH .. namespace, lane .. ' ' .. state, by) end
    end
  end
end

-- Writes everything that still waits.
local function settle_sets()
  for key in pairs(pending) do finish_with(key, settle_set, key) end
  for prefix, lanes in pairs(depth_moved) do finish_with(prefix, settle_depth, prefix, lanes) end
  pending, depth_moved = {}, {}
end
