-- ledger: steps on accounts, in order: the arithmetic of backend/src/ledger, function by function. A step looks at
-- everything it needs before it changes anything: one that meets something unreadable does nothing.
-- read_ledger: the same with readings only.
--
-- ask[4]: accounts, each {name, prefix, fields or true}
-- ask[5]: steps. In a path account and revision take turns; `at` is where an account stands there. What is not given is false.
--   {'take', path, grant, holder, instead of, mark, mark without place, tier, tier …}
--     tier: at, 'held' | 'used', number, floor (true: now), delta, bound, whether it counts from now …
--       or: at, 'place', name, window, at most, false, false …
--   {'draw', path, grant, bearer, {identity, remembered for …}, {at, number, amount, always …},
--     {at, count, number, limit …} …}
--   {'give', account, grant, undo, {account, number, correction …}}
--   {'amend', account, 'absent' | 'any' | version, restart, redefines, forget places,
--     {number, 'add' | 'at_least' | 'clear_below', amount, or 'reach', other number …}, {text, value …},
--     stale at (true: as before), stamp, due, tag}
--   {'read', account, numbers or true, {window, at most, number beside …}}
--   {'holds', account, older than, after, at most}
-- answers, one each: {'taken', tier, again}, {'full', account, generation, value, fits, fits at …}, {'late'},
--   {'drawn' | 'again' | 'repeated', value …}, {'given'}, {'unknown'}, {'amended', version, revision}, {'differs'},
--   {'differs' | 'other', account, what it is}, {'account', account, what it is, how many numbers,
--   number, used, held …, count of places, falls at …}, {'holds', member …}, {'absent' | 'stale', account}, {'corrupt', why}

-- The names of this file end with it: only 200 may be known at a time.
do

local DIMENSIONS_MAX = 64
local GRANT_TTL_MAX_MS = 60000
local LOOK_WITHIN_MS = 1000
local HOLDS_CHUNK = 500
local FIRST_TIER, ENTRY, SEEN = 8, 7, 3

local steps = {}

-- The accounts of this call by name.
local accounts

local function view(outcome, account)
  return {outcome, account[1], account.version, account.revision, account:field('body'), account.stale_at, account.due,
    account.stamp, account.generation, account.marks, account:field('last'), account:field('listed')}
end

-- Why nothing is taken or drawn on this path.
local function obstacle(path)
  for i = 1, #path, 2 do
    local account = accounts[path[i]]:read()
    if account.revision == 0 then return {'absent', path[i]} end
    if account.revision ~= path[i + 1] then return view('other', account) end
    if account.stale_at and account.stale_at <= now then return {'stale', path[i]} end
  end
end

local function mark(account, meter, generation, look_at)
  local before = account:number(meter)
  if before and before[1] >= generation then return end
  account:put(meter, generation, 0)
  if not before then account.marks = account.marks + 1 end
  account:bring_forward(look_at)
end

-- The account that stands on a hold of another one, and lives where that does. If it was not read yet, this number will be.
local function account_beside(account, name, meter)
  local found = accounts[name] or setmetatable({name, account[2]}, Account)
  accounts[name] = found
  if not found.before and found[3] ~= true then
    found[3] = found[3] or {}
    push(found[3], meter)
  end
  return found:read()
end

-- Where a number stands on paper: account, number, used, held …
local function on_paper(paper, account, meter)
  for i = 1, #paper, 4 do
    if paper[i] == account and paper[i + 1] == meter then return i end
  end
  push(paper, account, meter, account:used_and_held(meter))
  return #paper - 3
end

-- Takes of a number on paper; answers what it showed, whether it fits, and from when on.
local function try_number(account, tier, e, paper, hold)
  local i, floor, delta, bound = on_paper(paper, account, tier[e + 2]), tier[e + 3], tier[e + 4], tier[e + 5]
  local used, held, fits, fits_at = paper[i + 2], paper[i + 3], true, false
  local counted = sum(used, held)
  if floor == true then floor = now * 1000 end
  if floor and floor > counted then counted = floor end
  local wanted = sum(counted, delta)
  if tier[e + 6] then
    fits = wanted <= sum(now * 1000, bound)
    fits_at = not fits and wanted >= bound and math.ceil(sum(wanted, -bound) / 1000)
  elseif bound then
    fits = wanted <= bound
  end
  if tier[e + 1] == 'held' then paper[i + 3] = sum(held, delta) else paper[i + 2] = sum(wanted, -held) end
  local held_by, used_by = sum(paper[i + 3], -held), sum(paper[i + 2], -used)
  if held_by ~= 0 or used_by ~= 0 then push(hold, account[1], tier[e + 2], integer(held_by), integer(used_by)) end
  return counted, fits, fits_at
end

-- The same for a place. places: account, name, window …
local function try_place(account, tier, e, places)
  local name, window, at_most = tier[e + 2], tier[e + 3], tier[e + 4]
  local stands, count = account:has_place(name, window), account:places(window)
  for p = 1, #places, 3 do
    if places[p] == account then
      stands, count = stands or places[p + 1] == name, count + 1
    end
  end
  if not stands then push(places, account, name, window) end
  local fits = stands or count < at_most
  return count, fits, not fits and at_most > 0 and account:falls_at(window, at_most - 1)
end

-- Takes a tier on paper: whether it fits, what its entries showed, and the numbers, the hold and the places it would leave.
local function fill(step, tier, replaced)
  local path, fits, seen, paper, hold, places = step[2], true, {}, {}, {step[4], now_text, '', ''}, {}
  for t = 5, replaced and 4 + replaced[4] or 0, 4 do
    local i = on_paper(paper, account_beside(accounts[path[1]], replaced[t], replaced[t + 1]), replaced[t + 1])
    paper[i + 3] = sum(paper[i + 3], -replaced[t + 2])
  end
  for e = 1, #tier, ENTRY do
    local is_place = tier[e + 1] == 'place'
    local try, into = is_place and try_place or try_number, is_place and places or paper
    local showed, fit, fits_at = try(accounts[path[tier[e]]], tier, e, into, hold)
    push(seen, showed, fit, fits_at)
    fits = fits and fit
  end
  return fits, seen, paper, hold, places
end

-- Makes it true.
local function write_tier(step, number, paper, hold, places)
  local path, tier = step[2], step[number]
  for i = 1, #paper, 4 do paper[i]:put(paper[i + 1], paper[i + 2], paper[i + 3]) end
  hold[3], hold[4] = integer(number - FIRST_TIER), integer(#hold - 4)
  for p = 1, #places, 3 do
    places[p]:put_place(places[p + 1], places[p + 2])
    push(hold, places[p][1], places[p + 1])
  end
  for e = 1, #tier, ENTRY do
    if tier[e + 1] == 'place' then accounts[path[tier[e]]]:drop_places(tier[e + 3]) end
  end
  if #hold > 4 then accounts[path[1]]:put_hold(step[3], hold) end
end

-- Nothing fits; the account that refused is told where the work waits.
local function full(step, seen)
  local s = 1
  while seen[s + 1] do s = s + SEEN end
  local account = accounts[step[2][step[#step][(s - 1) / SEEN * ENTRY + 1]]]
  local look_at = seen[s + 2] or now + LOOK_WITHIN_MS
  if step[6] then mark(account, step[6], account.generation, look_at) end
  if step[7] then mark(account, step[7], account.generation, look_at) end
  return {'full', account[1], account.generation, unpack(seen)}
end

local function is_refused(account, grant)
  local key = account:key('refused:')
  if account.refuses == nil then account.refuses = call('EXISTS', key) == 1 end
  return account.refuses and (tonumber(call('ZSCORE', key, grant)) or 0) > now
end

function steps.take(step)
  local first, grant, seen = accounts[step[2][1]], step[3], nil
  local taken = first:hold(grant)
  if taken then return {'taken', taken[3], true} end
  if is_refused(first, grant) then return {'late'} end
  local hindered = obstacle(step[2])
  if hindered then return hindered end
  local replaced = step[5] and first:hold(step[5])
  for number = FIRST_TIER, #step do
    local fits, paper, hold, places
    fits, seen, paper, hold, places = fill(step, step[number], replaced)
    if fits then
      if replaced then first:put_hold(step[5], false) end
      write_tier(step, number, paper, hold, places)
      return {'taken', number - FIRST_TIER, false}
    end
  end
  return full(step, seen)
end

-- Whether a draw is remembered under one of its names, and whether the same brought it. The moment decides; that the key
-- goes away only saves memory.
local function drawn_before(drawn, names, bearer)
  local is_drawn, is_same = false, false
  for i = 1, #names, 2 do
    local drawn_until, by = string.match(call('GET', drawn .. names[i]) or '0', '^(%d+) ?(.*)$')
    if tonumber(drawn_until) > now then is_drawn, is_same = true, is_same or by == bearer end
  end
  return is_drawn, is_same
end

local function values(outcome, path, uses)
  local answer = {outcome}
  for u = 1, #uses, 4 do answer[#answer + 1] = accounts[path[uses[u]]]:used_and_held(uses[u + 1]) end
  return answer
end

-- Draws down what a hold had kept of a number; answers how much.
local function draw_down(hold, account, meter, amount)
  local left = amount
  for t = 5, hold and 4 + hold[4] or 0, 4 do
    if hold[t] == account[1] and hold[t + 1] == meter then
      local part = math.max(math.min(left, tonumber(hold[t + 2])), 0)
      hold[t + 2], left = integer(hold[t + 2] - part), left - part
    end
  end
  return amount - left
end

-- Names invented by callers do not grow an account without end.
local function is_counted(account, meter, always)
  return always or account:number(meter) or not is_spent(meter) or account.spent < DIMENSIONS_MAX
end

-- Whether a watch saw a limit passed, which it counts and notes then.
local function count_passed(account, watch)
  for i = 3, #watch, 2 do
    local used = account:used_and_held(watch[i])
    if used > watch[i + 1] then
      account:move(watch[2], 1, 0)
      account:set('last', cjson.encode({watch[2], watch[i], integer(used), integer(watch[i + 1]), now_text}))
      account:bring_forward(now)
      return true
    end
  end
end

function steps.draw(step)
  local path, grant, bearer, names, uses = step[2], step[3], step[4], step[5] or {}, step[6]
  local first, hindered, is_noted = accounts[path[1]], obstacle(path), {}
  if hindered then return hindered end
  local drawn = first:key('drawn:') .. ':'
  local is_drawn, is_same = drawn_before(drawn, names, bearer)
  if is_drawn then return values(is_same and 'again' or 'repeated', path, uses) end
  local hold = grant and first:hold(grant)
  for u = 1, #uses, 4 do
    local account, meter, amount = accounts[path[uses[u]]], uses[u + 1], uses[u + 2]
    if is_counted(account, meter, uses[u + 3]) then
      local drawn_down = draw_down(hold, account, meter, amount)
      account:move(meter, amount, -drawn_down)
      if drawn_down > 0 then first:put_hold(grant, hold) end
    end
  end
  for w = 7, #step do
    local at = step[w][1]
    is_noted[at] = is_noted[at] or count_passed(accounts[path[at]], step[w])
  end
  for i = 1, #names, 2 do
    local text = moment_in(names[i + 1]) .. ' ' .. (bearer or '')
    if names[i + 1] > 0 then call('SET', drawn .. names[i], text, 'PX', integer(names[i + 1])) end
  end
  return values('drawn', path, uses)
end

-- It may have asked on a way that is slower than this one.
local function refuse(account, grant)
  local refused = account:key('refused:')
  account.refuses = true
  add_to(refused, moment_in(GRANT_TTL_MAX_MS), grant)
  forget_some(refused, now, GRANT_TTL_MAX_MS)
end

function steps.give(step)
  local first, grant, undo, back, opened = accounts[step[2]], step[3], step[4], step[5], {}
  local hold = first:hold(grant)
  if not hold then
    if first:read().revision > 0 then refuse(first, grant) end
    return {'unknown'}
  end
  local places, moves = 5 + hold[4], {}
  for i = 5, places - 1, 4 do
    local account, held, used = account_beside(first, hold[i], hold[i + 1]), -hold[i + 2], undo and -hold[i + 3] or 0
    if held ~= 0 or used ~= 0 then push(moves, account, hold[i + 1], used, held) end
  end
  for i = 1, #back, 3 do push(moves, accounts[back[i]]:read(), back[i + 1], back[i + 2], 0) end
  for i = 1, #moves, 4 do moves[i]:number(moves[i + 1]) end
  for i = places, undo and #hold or 0, 2 do opened[account_beside(first, hold[i])] = true end
  for i = places, undo and #hold or 0, 2 do accounts[hold[i]]:drop_place(hold[i + 1]) end
  for i = 1, #moves, 4 do
    moves[i]:move(moves[i + 1], moves[i + 2], moves[i + 3])
    opened[moves[i]] = true
  end
  first:put_hold(grant, false)
  for account in pairs(opened) do
    account.generation = sum(account.generation, 1)
    if account.marks > 0 then account:bring_forward(now) end
  end
  return {'given'}
end

local function is_mark(meter)
  return string.find(meter, '^mark:') or string.find(meter, '^placeless:')
end

-- What is held of it stays.
local function clear_below(account, meter, least)
  local number = account:number(meter)
  if not number or number[1] >= least then return end
  account:put(meter, number[2] ~= 0 and 0 or nil, number[2])
  if is_mark(meter) then account.marks = account.marks - 1 end
end

local function move(account, meter, verb, amount)
  if verb == 'reach' then
    amount = amount == 'generation' and account.generation or account:used_and_held(amount)
  end
  if meter == 'generation' then
    if verb == 'add' then account.generation = sum(account.generation, amount) end
  elseif verb == 'clear_below' then
    clear_below(account, meter, amount)
  elseif verb == 'add' then
    account:move(meter, amount, 0)
  elseif is_mark(meter) then
    mark(account, meter, amount, now + LOOK_WITHIN_MS)
  else
    local used, held = account:used_and_held(meter)
    account:put(meter, math.max(used, amount), held)
  end
end

local function change_text(account, field, text)
  if field == 'listed' then
    local listed, before = account[2] .. 'accounts', account:field('listed')
    if before then remove_from(listed, before .. ' ' .. account[1]) end
    if text then add_to(listed, 0, text .. ' ' .. account[1]) end
  end
  account:set(field, text)
end

function steps.amend(step)
  local account, expected, restart, redefines = accounts[step[2]]:read(), step[3], step[4], step[5]
  local is_new, moves, texts = account.version == 0, step[7], step[8] or {}
  if expected ~= account.version and expected ~= (is_new and 'absent' or 'any') then
    return is_new and {'differs'} or view('differs', account)
  end
  account.version = step[12]
  if is_new or redefines then account.revision = step[12] end
  if is_new or redefines or restart then account.generation = sum(account.generation, 1) end
  for t = 1, #texts, 2 do change_text(account, texts[t], texts[t + 1]) end
  if step[9] ~= true then account.stale_at = step[9] end
  -- Whoever brought it forward meanwhile knows something that the caller does not.
  if step[10] == account.stamp then account.due = step[11] end
  for meter in pairs(restart and account.numbers or {}) do
    if is_spent(meter) then clear_below(account, meter, math.huge) end
  end
  if step[6] then account:drop_places(step[6]) end
  for m = 1, #moves, 3 do move(account, moves[m], moves[m + 1], moves[m + 2]) end
  return {'amended', account.version, account.revision}
end

function steps.read(step)
  local account, names, places = accounts[step[2]]:read(), step[3], step[4]
  if account.revision == 0 then return {'absent', account[1]} end
  local answer = view('account', account)
  if names == true then
    names = {}
    for meter, number in pairs(account.numbers) do
      if number then push(names, meter) end
    end
  end
  push(answer, #names)
  for _, meter in ipairs(names) do push(answer, meter, account:used_and_held(meter)) end
  for p = 1, #places, 3 do
    local beside = places[p + 2] and sum(account:used_and_held(places[p + 2])) or 0
    local at_most = math.max(places[p + 1] - math.max(beside, 0), 0)
    push(answer, account:places(places[p]), account:falls_at(places[p], at_most))
  end
  return answer
end

function steps.holds(step)
  local key, most, answer = accounts[step[2]]:key('holds:'), step[5], {'holds'}
  local from = step[4] and '(' .. step[4] .. '!' or '-'
  settle_set(key)
  repeat
    local found = call('ZRANGEBYLEX', key, from, '+', 'LIMIT', 0, HOLDS_CHUNK)
    for _, member in ipairs(found) do
      local taken_at = read_hold(string.match(member, ' (.*)$'))[2]
      if #answer <= most and taken_at + step[3] <= now then push(answer, member) end
    end
    from = '(' .. (found[#found] or '')
  until #found < HOLDS_CHUNK or #answer > most
  return answer
end

local function do_steps(ask)
  local answers = {}
  accounts = {}
  for _, account in ipairs(ask[4]) do accounts[account[1]] = setmetatable(account, Account) end
  for i, step in ipairs(ask[5]) do
    local went_well, answer = pcall(steps[step[1]], step)
    answers[i] = went_well and answer or {'corrupt', reason(answer)}
  end
  for _, account in pairs(accounts) do
    if account.before then account:write() end
  end
  return answers
end

offer('ledger', do_steps)
offer('read_ledger', do_steps, {'no-writes'})

end
