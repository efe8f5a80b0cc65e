//! The checksum that spreads ids over partitions.

/// CRC16-XMODEM, the checksum a cluster finds slots with; `crc` is 0 or the checksum of what came before `bytes`.
pub const fn crc16(mut crc: u16, bytes: &[u8]) -> u16 {
    let mut position = 0;
    while position < bytes.len() {
        let [high, low] = crc.to_be_bytes();
        crc = (low as u16) << 8 ^ CRC16_TABLE[(high ^ bytes[position]) as usize];
        position += 1;
    }
    crc
}

const CRC16_TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0u16;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            let carry = crc & 0x8000 != 0;
            crc <<= 1;
            if carry {
                crc ^= 0x1021;
            }
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_crc16_xmodem() {
        for (text, crc) in [("", 0), ("123456789", 0x31c3), ("A", 0x58e5), ("foo", 0xaf96)] {
            assert_eq!(crc16(0, text.as_bytes()), crc, "{text:?}");
        }
        assert_eq!(crc16(crc16(0, b"1234"), b"56789"), 0x31c3);
    }
}
