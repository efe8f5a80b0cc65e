import assert from 'node:assert/strict';
import test from 'node:test';
import { amount, bytes, costOf, count, duration, percent, rate, short, tail, usage, wholly } from '../core/format.js';

const all = (say, cases) => cases.forEach(([...given]) => assert.equal(say(...given.slice(0, -1)), given.at(-1), JSON.stringify(given)));

test('counts have groups of three digits', () =>
  all(count, [
    [0, '0'],
    [999, '999'],
    [1_934, '1,934'],
    [2_470_123, '2,470,123'],
    [null, '–'],
  ]));

test('large counts are short where there is little room', () =>
  all(short, [
    [1_934, '1,934'],
    [999_999, '999,999'],
    [2_470_000, '2.47 M'],
    [24_700_000, '24.7 M'],
    [3_100_000_000, '3.10 G'],
  ]));

test('rates and shares have a digit behind the point while they are small', () => {
  all(rate, [
    [184.3, '184 /s'],
    [2.1, '2.1 /s'],
    [0, '0 /s'],
    [12, '12 /s'],
    [0.016, '0.02 /s'],
    [1_200.4, '1,200 /s'],
  ]);
  all(percent, [
    [0.008, '0.8 %'],
    [0.24, '24 %'],
    [0, '0.0 %'],
    [1, '100 %'],
    [Number.NaN, '– %'],
  ]);
});

test('lengths of time have two units at most', () => {
  all(duration, [
    [640, '640 ms'],
    [3_100, '3.1 s'],
    [48_000, '48 s'],
    [134_000, '2 m 14 s'],
    [182_000, '3 m 02 s'],
    [120_000, '2 m'],
    [11_520_000, '3 h 12 m'],
    [187_200_000, '2 d 4 h'],
    [0, '0 ms'],
    [null, '–'],
    [-5_000, '−5 s'],
    [999.6, '1 s'],
    [9_960, '10 s'],
  ]);
  all(duration, [
    [24_400, true, '24.4 s'],
    [59_960, true, '1 m'],
  ]);
});

test('ages count in whole seconds, then in whole minutes', () =>
  all(wholly, [
    [900, '0 s'],
    [48_900, '48 s'],
    [252_000, '4 m 12 s'],
    [2_501_000, '41 m'],
    [187_261_000, '2 d 4 h'],
    [-4, '0 s'],
  ]));

test('bytes are told in thousands', () =>
  all(bytes, [
    [412, '412 bytes'],
    [14_200, '14.2 KB'],
    [1_000, '1 KB'],
    [999_600, '1 MB'],
    [156_000_000, '156 MB'],
  ]));

test('money prints as money, and is never nothing while it is something', () => {
  all(amount, [
    ['cents', 61, '$0.61'],
    ['llm_cents', 4_120, '$41.20'],
    ['usd_micros', 610_000, '$0.61'],
    ['eur_micros', 1_840_000_000, '€1,840.00'],
    ['usd_micros', 1_234, '$0.00123'],
    ['usd_micros', 5, '$0.00000500'],
    ['cents', 0, '$0.00'],
    ['percents', 5, '5'],
  ]);
  all(usage, [
    ['tokens', 48_120, '48,120 tokens'],
    ['cents', 61, '$0.61'],
  ]);
});

test('a cost is the sum of what is money in each currency', () => {
  all(costOf, [
    [{ cents: 60, usd_micros: 10_000, tokens: 9 }, '$0.61'],
    [{ tokens: 9 }, null],
    [undefined, null],
    [{ cents: 100, eur_micros: 2_000_000 }, '$1.00 + €2.00'],
  ]);
});

test('an id is shown by its end', () => all(tail, [['fp:3:019a72c4-1111-7222-8333-94449e4bc17d', '9e4bc17d']]));
