-- load: records, counters, blobs and nudges, each load at one moment.
--
-- ask[4]: loads; each {prefix, names, with gates, counters, blobs, steps}
--   counters, by record: {name, fields} …   blobs: {key, field} …   steps: {uuid, first place, how many, bytes of outputs} …
-- answers, one each: {records, gates, counters, blobs, steps}
--   records: {head, body, stamp} or false …   gates: {name, head, body} …
--   counters: values …   blobs: {bytes, type} or false …
--   steps, a list for each: {key, head, body, output or false, its type} …

-- What is kept of a record; nil when it does not exist.
local function read_record(key)
  local found = call('HMGET', key, 'head', 'body', 'expires')
  if found[1] and not (found[3] and tonumber(found[3]) <= now) then return found end
end

-- Steps in the order in which they were recorded, the first ones with what they left.
local function read_steps(prefix, asked)
  local uuid, left = asked[1], tonumber(asked[4])
  local payloads = prefix .. 'payloads:' .. uuid
  local ends = 'journal:' .. uuid .. ';'
  local places = call('ZRANGEBYLEX', prefix .. INDEX, '[' .. asked[2], '(' .. ends, 'LIMIT', 0, asked[3])
  local steps = {}
  for i, place in ipairs(places) do
    -- journal:<uuid>:<20 digits>:<key>
    local seq, key = string.sub(place, 46, 65), string.sub(place, 67)
    local found = read_record(prefix .. 'step:' .. uuid .. ':' .. key) or {'', ''}
    local field = 'step:' .. string.match(seq, '^0*(%d+)$')
    local output, kind = false, ''
    if left >= 0 and call('HEXISTS', payloads, field) == 1 then
      left = left - call('HSTRLEN', payloads, field)
      if left >= 0 then
        local kept = call('HMGET', payloads, field, field .. '_type')
        output, kind = kept[1], kept[2] or ''
      end
    end
    steps[i] = {key, found[1], found[2], output, kind}
  end
  return steps
end

-- The flow in the head of an execution.
local FLOW_OF = '^%S* %S* %S* %S* %S* %S* %S* (%S*)'

local function load_one(load)
  local prefix, records, gates, counters, blobs, steps = load[1], {}, {}, {}, {}, {}
  local gate_is_read = {}
  local stamps = load[2] and values_of(prefix .. STAMPS, load[2])
  for i, name in ipairs(load[2] or NONE) do
    local found = read_record(prefix .. name) or NONE
    records[i] = {found[1] or '', found[2] or '', stamps[i] or ''}
    local flow = load[3] and string.match(found[1] or '', FLOW_OF)
    if flow and flow ~= '' and not gate_is_read[flow] then
      gate_is_read[flow] = true
      local gate = read_record(prefix .. 'gate:' .. flow)
      if gate then gates[#gates + 1] = {flow, gate[1], gate[2]} end
    end
  end
  for _, asked in ipairs(load[4] or NONE) do
    for _, value in ipairs(values_of(prefix .. asked[1], asked[2])) do counters[#counters + 1] = value or '0' end
  end
  for i, blob in ipairs(load[5] or NONE) do
    local found = call('HMGET', prefix .. blob[1], blob[2], blob[2] .. '_type')
    blobs[i] = found[1] and {found[1], found[2] or ''} or {}
  end
  for i, asked in ipairs(load[6] or NONE) do steps[i] = read_steps(prefix, asked) end
  return {records, gates, counters, blobs, steps}
end

offer('load', function(ask)
  local answers = {}
  for i, load in ipairs(ask[4]) do answers[i] = load_one(load) end
  return answers
end, {'no-writes'})
