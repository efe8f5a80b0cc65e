-- What happened: lines on the record they are about, and a line in the partition's feed.

local HISTORY_LINES_MAX = 1000

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
  call('HSET', key, 'lines', before + 1, FIELDS_OF_HISTORY .. (before + 1), text)
  trim_lines(key, before, before + 1)
end

-- Lines for the feed of each partition, as parts of a text. Those of one call go into one entry, where lines that say the same one after
-- the other are one with several names: "<record>,<record> <namespace>/<lane> <kind> <flow> <line>".
local feeds = {}

local ENTRY_LINES_MAX = 500
-- Feeds are trimmed once in so many lines, to so many less than they may hold.
local TRIM_EVERY = 64

-- Drops the oldest entries until at most `keep` lines are left; `told` were ever told. Notes when, and of which time the last
-- one was: who has seen none of the feed asks whether it missed one.
local function trim_feed(prefix, told, keep)
  local key, dropped = prefix .. FEED, nil
  local oldest = call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  while oldest and tonumber(string.match(oldest[1], '%d+$')) <= told - keep do
    dropped = oldest[1]
    call('XDEL', key, dropped)
    oldest = call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  end
  if dropped then call('HSET', prefix .. STAMPS, 'trimmed', now_text .. ' ' .. string.match(dropped, '^%d+')) end
end

-- Writes an entry: its id is the time and the number of its first line, so that positions never go back.
local function write_entry(key, first, lines)
  local added = redis.pcall('XADD', key, now_text .. '-' .. integer(first), 'lines', lines)
  if type(added) == 'table' and added.err then
    -- The clock went back: the entry stands right after the last one.
    local last = call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
    local millis = last and string.match(last[1], '^%d+') or now_text
    call('XADD', key, millis .. '-' .. integer(first), 'lines', lines)
  end
end

local function settle_feed(prefix, feed)
  local count = feed.count
  local told = call('HINCRBY', prefix .. STAMPS, 'told', count)
  feed[#feed + 1] = feed.said
  write_entry(prefix .. FEED, told - count + 1, table.concat(feed))
  if math.floor(told / TRIM_EVERY) ~= math.floor((told - count) / TRIM_EVERY) then
    trim_feed(prefix, told, feed_lines_max - TRIM_EVERY)
  end
  hint('f ' .. prefix)
end

-- Adds a line about a record to the feed. said: " <namespace>/<lane> <kind> <flow> <line>"
local function tell(prefix, name, said)
  local feed = feeds[prefix]
  if not feed then
    feeds[prefix] = {name, count = 1, said = said}
    return
  end
  local n = #feed
  if feed.said == said then
    feed[n + 1], feed[n + 2] = ',', name
  else
    feed[n + 1], feed[n + 2], feed[n + 3] = feed.said, '\n', name
    feed.said = said
  end
  feed.count = feed.count + 1
  if feed.count == ENTRY_LINES_MAX then
    feeds[prefix] = nil
    settle_feed(prefix, feed)
  end
end

local function settle_feeds()
  for prefix, feed in pairs(feeds) do finish_with(prefix, settle_feed, prefix, feed) end
  feeds = {}
end

finish = function()
  settle_queues()
  settle_sets()
  settle_feeds()
end
