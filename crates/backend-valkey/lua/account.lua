-- Accounts as the steps of one call see them: each is read once and written once, however many steps are about it.
--
-- account:<name>   hash: what it is, and its numbers as "<used>" or "<used> <held>"
-- holds:<name>     sorted set, by name: "<grant> <hold>"; a hold is a list: holder, taken at, tier, how many values
--                  about numbers follow, then account, number, held, used …, then account, place …
-- places:<name>    sorted set: names by when they got their place
-- refused:<name>   sorted set: grants that were given back before they took anything, by when they are forgotten
-- drawn:<name>:<identity>   text with a time to live: until when a draw is remembered, and what brought it
-- accounts         sorted set, by name: "<namespace> <account>" of those that are listed

local NUMBER_MAX = 9007199254740991
local WINDOW_MAX_MS = 2678400000
-- What no longer counts goes away with use, never very much at once.
local FORGOTTEN_PER_CALL = 256

-- What an account is besides its numbers and texts: counters, and two moments that it may not have.
local HEAD = {'version', 'revision', 'generation', 'marks', 'stamp', 'spent', 'places_over', 'due', 'stale_at'}
local ABSENT = {0, 0, 0, 0, 0, 0, 0, false, false}

-- Begins as {name, prefix, names of the fields that will be looked at, or true for all of them}.
local Account = {}
Account.__index = Account

-- Appends up to four values.
local function push(list, a, b, c, d)
  local n = #list
  list[n + 1], list[n + 2], list[n + 3], list[n + 4] = a, b, c, d
end

-- Adds two numbers, and stops at the end of the scale.
local function sum(left, right)
  local number = left + right
  if number > NUMBER_MAX then return NUMBER_MAX end
  return number < -NUMBER_MAX and -NUMBER_MAX or number
end

-- Removes some of the oldest members of a set, which goes away as a whole when nobody comes for so long. Answers how many
-- there were up to the moment.
local function forget_some(key, moment, lives_for)
  settle_set(key)
  local gone = call('ZCOUNT', key, '-inf', integer(moment))
  if gone > 0 then call('ZREMRANGEBYRANK', key, 0, math.min(gone, FORGOTTEN_PER_CALL) - 1) end
  call('PEXPIRE', key, lives_for)
  return gone
end

function Account:key(what)
  local key = self[what] or self[2] .. what .. self[1]
  self[what] = key
  return key
end

-- One of its fields as text; false: not there.
function Account:field(name)
  if self.fields[name] == nil and self[3] ~= true then self.fields[name] = call('HGET', self:key('account:'), name) end
  return self.fields[name] or false
end

function Account:unreadable(field)
  error(self[1] .. ' has no number in ' .. field)
end

-- A number as {used, held}; false: not there.
function Account:number(meter)
  local number = self.numbers[meter]
  if number == nil then
    local used, held = string.match(self:field(meter) or '', '^(-?%d+) ?(-?%d*)$')
    number = used and {tonumber(used), tonumber(held) or 0} or false
    if not used and self.fields[meter] then self:unreadable(meter) end
    self.numbers[meter] = number
  end
  return number
end

-- Reads it when the first step looks at it. What is no number is found here, before a step changes anything.
function Account:read()
  if self.before then return self end
  local names, fields, before, key = self[3] or {}, {}, {}, self:key('account:')
  self.fields, self.numbers, self.moved, self.written, self.taken = fields, {}, {}, {}, {}
  if names == true then
    local found = call('HGETALL', key)
    for i = 1, #found, 2 do fields[found[i]] = found[i + 1] end
  else
    for i = 1, #HEAD do names[#names + 1] = HEAD[i] end
    local found = call('HMGET', key, unpack(names))
    for i = 1, #names do fields[names[i]] = found[i] end
  end
  for field in pairs(fields) do
    if string.find(field, ':', 1, true) then self:number(field) end
  end
  for i, field in ipairs(HEAD) do
    local number = fields[field] and (tonumber(fields[field]) or self:unreadable(field)) or ABSENT[i]
    self[field], before[field] = number, number
  end
  self.before = before
  return self
end

-- Changes a text; false: it has none any more.
function Account:set(field, text)
  if (self.fields[field] or false) ~= text then self.fields[field], self.written[field] = text, text end
end

function Account:used_and_held(meter)
  local number = self:number(meter)
  if not number then return 0, 0 end
  return number[1], number[2]
end

local function is_spent(meter)
  return string.find(meter, '^spent:')
end

-- Without `used` the number is not there any more.
function Account:put(meter, used, held)
  local number = self:number(meter)
  if number and number[1] == used and number[2] == held then return end
  if not number ~= not used and is_spent(meter) then self.spent = self.spent + (used and 1 or -1) end
  self.numbers[meter], self.moved[meter] = used and {used, held} or false, true
end

function Account:move(meter, used_by, held_by)
  local used, held = self:used_and_held(meter)
  self:put(meter, sum(used, used_by), sum(held, held_by))
end

function Account:bring_forward(to)
  self.due, self.stamp = math.min(self.due or to, to), self.stamp + 1
end

local function read_hold(text)
  local hold = cjson.decode(text)
  for i = 5, 4 + hold[4], 4 do
    if not tonumber(hold[i + 2]) or not tonumber(hold[i + 3]) then error('a hold has no number in ' .. hold[i + 1]) end
  end
  return hold
end

-- What a grant has taken; false: nothing.
function Account:hold(grant)
  self.holds = self.holds or {}
  local kept = self.holds[grant]
  if not kept then
    local from, to = '[' .. grant .. ' ', '(' .. grant .. '!'
    local member = call('ZRANGEBYLEX', self:key('holds:'), from, to, 'LIMIT', 0, 1)[1]
    kept = {member and read_hold(string.sub(member, #grant + 2)) or false, member}
    self.holds[grant] = kept
  end
  return kept[1]
end

function Account:put_hold(grant, hold)
  local kept, key = self.holds[grant], self:key('holds:')
  if kept[2] then remove_from(key, kept[2]) end
  kept[1], kept[2] = hold, hold and grant .. ' ' .. cjson.encode(hold)
  if hold then add_to(key, 0, kept[2]) end
end

-- How many places of a window count.
function Account:places(window)
  if self.counted_in ~= window then
    local log, over = self:key('places:'), math.max(now - window, self.places_over)
    settle_set(log)
    self.counted, self.counted_in = call('ZCOUNT', log, '(' .. integer(over), '+inf'), window
  end
  return self.counted
end

-- The moment from which at most so many do; false: there never were more.
function Account:falls_at(window, at_most)
  local log, rank = self:key('places:'), integer(-1 - at_most)
  settle_set(log)
  local taken_at = tonumber(call('ZRANGE', log, rank, rank, 'WITHSCORES')[2])
  return taken_at and taken_at > self.places_over and taken_at + window or false
end

function Account:has_place(name, window)
  if self.taken[name] == nil then self.taken[name] = tonumber(call('ZSCORE', self:key('places:'), name)) or false end
  return (self.taken[name] or 0) > math.max(now - window, self.places_over)
end

function Account:put_place(name, window)
  add_to(self:key('places:'), now_text, name)
  self.taken[name], self.counted = now, self.counted + 1
  if self.counted_in ~= window then self.counted_in = nil end
end

function Account:drop_place(name)
  remove_from(self:key('places:'), name)
  self.taken[name], self.counted_in = false, nil
end

-- A place that has stopped counting never counts again, however long the window becomes; some may still be there.
function Account:drop_places(window)
  local over = now - window
  if over <= self.places_over then return end
  self.places_over = over
  self.is_cleared = forget_some(self:key('places:'), over, WINDOW_MAX_MS) <= FORGOTTEN_PER_CALL
  if self.counted_in ~= window then self.counted_in = nil end
end

-- Writes what changed, moves the timer, and tells when the generation moved.
function Account:write()
  local before, key = self.before, self:key('account:')
  if self.is_cleared then self.places_over = 0 end
  for field, number in pairs(before) do
    if self[field] ~= number then self:set(field, self[field] and integer(self[field])) end
  end
  for meter in pairs(self.moved) do
    local number, text = self.numbers[meter], false
    if number then text = integer(number[1]) .. (number[2] ~= 0 and ' ' .. integer(number[2]) or '') end
    -- One of its own that was not there and shows nothing is as good as not there.
    if text ~= '0' or self.fields[meter] or not string.find(meter, '^own:') then self:set(meter, text) end
  end
  if not next(self.written) then return end
  for field, text in pairs(self.written) do
    push(waiting_for(text and 'HSET' or 'HDEL', key), field, text or nil)
  end
  schedule(self[2], self[1], before.due and integer(before.due) or '', self.due and integer(self.due) or '')
  if before.revision > 0 and before.generation ~= self.generation then hint('c ' .. self[1]) end
  changed(self[2])
end
