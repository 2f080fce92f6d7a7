package file

import (
	"io"
)

// findFrame searches byte by byte for the next frame of a kind from an offset on. A wanted kind of 0
// means any kind. It returns the frame without its data.
func findFrame(file io.ReaderAt, h head, from, size int64, wanted kind) (at int64, f frame, found bool, err error) {
	const window = 1 << 20
	buf := make([]byte, window+frameHead)
	for ; from < size; from += window {
		chunk := buf[:min(int64(len(buf)), size-from)]
		if err := readAll(file, chunk, from); err != nil {
			return 0, frame{}, false, err
		}
		for i := 0; i+frameHead <= len(chunk) && i < window; i++ {
			if !mayBeFrame(chunk[i:i+frameHead], size-from-int64(i), wanted) {
				continue
			}
			f, ok, err := readFrameAt(file, h, from+int64(i), size)
			if err != nil {
				return 0, frame{}, false, err
			}
			if ok && (wanted == 0 || f.kind == wanted) {
				return from + int64(i), f, true, nil
			}
		}
	}
	return 0, frame{}, false, nil
}

// mayBeFrame reports whether the fields of a frame's head are consistent and the frame fits into room
// bytes. It saves findFrame most checksums.
func mayBeFrame(raw []byte, room int64, wanted kind) bool {
	n := frameSize(raw)
	if n == 0 || int64(n) > room {
		return false
	}
	k := kind(raw[8])
	if k < recordFrame || k > endFrame || wanted != 0 && k != wanted {
		return false
	}
	if k == markFrame || k == endFrame {
		return n == frameHead
	}
	return frameHead+int(raw[9])+int(raw[10])+int(raw[11])<<8 <= n
}

// readFrameAt reads the frame at an offset, without its data. It returns false if there is no valid
// frame.
func readFrameAt(file io.ReaderAt, h head, offset, size int64) (frame, bool, error) {
	raw, err := readRawFrame(file, offset, size)
	if err != nil || raw == nil {
		return frame{}, false, err
	}
	f, ok := parseFrame(raw, h.salt, offset)
	f.data = nil
	return f, ok && f.isPlausible(), nil
}

// readRawFrame reads the bytes of the frame at an offset, according to its length field. It returns
// nil if the length is invalid or exceeds size.
func readRawFrame(file io.ReaderAt, offset, size int64) ([]byte, error) {
	if offset+frameHead > size {
		return nil, nil
	}
	length := make([]byte, 4)
	if err := readAll(file, length, offset); err != nil {
		return nil, err
	}
	n := frameSize(length)
	if n == 0 || offset+int64(n) > size {
		return nil, nil
	}
	raw := make([]byte, n)
	return raw, readAll(file, raw, offset)
}

// findNext finds the next valid frame after a bad one. It tries the length in the bad frame's head
// first. If that length is intact, bytes inside the bad frame are not mistaken for a frame.
func findNext(file io.ReaderAt, h head, bad, size int64) (at int64, f frame, found bool, err error) {
	raw, err := readRawFrame(file, bad, size)
	if err != nil {
		return 0, frame{}, false, err
	}
	if raw != nil {
		at = bad + int64(len(raw))
		if f, found, err = readFrameAt(file, h, at, size); found || err != nil {
			return at, f, found, err
		}
	}
	return findFrame(file, h, bad+1, size, 0)
}
