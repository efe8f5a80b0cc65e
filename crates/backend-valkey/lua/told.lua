-- What happened: lines on the record they are about, and a line in the partition's feed.

local HISTORY_LINES_MAX = 1000

-- Adds a line to the fields that will be written to a record. `count` lines stand there already; answers how many then.
local function add_line(fields, count, text)
  count = count + 1
  fields[#fields + 1] = FIELDS_OF_HISTORY .. count
  fields[#fields + 1] = text
  return count
end

-- Drops lines beyond the last thousand, given how many there were before and are now.
local function trim_lines(key, before, after)
  if after <= HISTORY_LINES_MAX then return end
  local dropped = {}
  for number = math.max(before - HISTORY_LINES_MAX, 0) + 1, after - HISTORY_LINES_MAX do
    dropped[#dropped + 1] = FIELDS_OF_HISTORY .. number
  end
  if #dropped > 0 then call('HDEL', key, unpack(dropped)) end
end

-- Adds a line to a record that is not written otherwise.
local function tell_alone(key, text)
  local before = tonumber(call('HGET', key, 'lines') or 0)
  local fields = {}
  local after = add_line(fields, before, text)
  call('HSET', key, 'lines', after, unpack(fields))
  trim_lines(key, before, after)
end

-- Lines for the feed of each partition. Those of one call go into one entry.
local feed_lines = {}

local ENTRY_LINES_MAX = 500
-- Feeds are trimmed once in so many lines, to so many less than they may hold.
local TRIM_EVERY = 64

-- Adds a line to the feed. about: "<record> <namespace>/<lane> <kind> <flow> "
local function feed(prefix, about, text)
  local lines = inner(feed_lines, prefix)
  local n = #lines
  lines[n + 1], lines[n + 2] = 'line', about .. text
end

-- Drops the oldest entries until at most `keep` lines are left; `told` were ever told.
local function trim_feed(key, told, keep)
  local oldest = call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  while oldest and tonumber(string.match(oldest[1], '%d+$')) <= told - keep do
    call('XDEL', key, oldest[1])
    oldest = call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  end
end

-- Writes an entry: its id is the time and the number of its first line, so that positions never go back.
local function write_entry(key, first, lines, from, to)
  local added = redis.pcall('XADD', key, now_text .. '-' .. integer(first), unpack(lines, from, to))
  if type(added) == 'table' and added.err then
    -- The clock went back: the entry stands right after the last one.
    local last = call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
    local millis = last and string.match(last[1], '^%d+') or now_text
    call('XADD', key, millis .. '-' .. integer(first), unpack(lines, from, to))
  end
end

local function settle_feeds()
  for prefix, lines in pairs(feed_lines) do
    local key, count = prefix .. FEED, #lines / 2
    local told = call('HINCRBY', prefix .. STAMPS, 'told', count)
    local first = told - count + 1
    for from = 1, #lines, 2 * ENTRY_LINES_MAX do
      write_entry(key, first, lines, from, math.min(from + 2 * ENTRY_LINES_MAX - 1, #lines))
      first = first + ENTRY_LINES_MAX
    end
    if math.floor(told / TRIM_EVERY) ~= math.floor((told - count) / TRIM_EVERY) then
      trim_feed(key, told, feed_lines_max - TRIM_EVERY)
    end
    hint('f ' .. prefix)
  end
  feed_lines = {}
end

finish = function()
  settle_sets()
  settle_feeds()
end
