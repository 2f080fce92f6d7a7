package dockerapi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/pkg/stdcopy"
)

const tailBytes = 8 << 10

// Stream is an attached connection. Writes go to stdin. Reads return the stdout part of the daemon's
// multiplexed answer. The stderr part goes to tail. Reading directly, without a goroutine and a pipe,
// keeps round trips through the container short and lets a slow reader block the writer.
type Stream struct {
	hijacked types.HijackedResponse
	tail     tail
	left     uint32 // bytes of the current stdout frame not yet read
	once     sync.Once
	closeErr error
}

func newStream(h types.HijackedResponse) *Stream { return &Stream{hijacked: h} }

const frameHeader = 8 // kind, three zeros, length (big endian)

func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for s.left == 0 {
		var h [frameHeader]byte
		if _, err := io.ReadFull(s.hijacked.Reader, h[:]); err != nil {
			return 0, err // io.EOF between frames means that the container is done
		}
		n := binary.BigEndian.Uint32(h[4:])
		switch stdcopy.StdType(h[0]) {
		case stdcopy.Stdout:
			s.left = n
		case stdcopy.Stderr:
			if _, err := io.CopyN(&s.tail, s.hijacked.Reader, int64(n)); err != nil {
				return 0, unexpectedEOF(err)
			}
		default:
			return 0, fmt.Errorf("attached stream: frame of kind %d", h[0])
		}
	}
	n, err := s.hijacked.Reader.Read(p[:min(len(p), int(s.left))])
	s.left -= uint32(n)
	if err != nil {
		err = unexpectedEOF(err)
	}
	return n, err
}

// unexpectedEOF converts io.EOF within a frame to io.ErrUnexpectedEOF.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *Stream) Write(p []byte) (int, error) { return s.hijacked.Conn.Write(p) }

// Stderr returns the end of stderr so far.
func (s *Stream) Stderr() string { return s.tail.String() }

// CloseWrite sends end of file to the container's stdin.
func (s *Stream) CloseWrite() error { return s.hijacked.CloseWrite() }

// Close ends both directions at once. It may be called again.
func (s *Stream) Close() error {
	s.once.Do(func() { s.closeErr = s.hijacked.Conn.Close() })
	return s.closeErr
}

// CopyOutput copies both streams until the container is done. Use it instead of Read.
func (s *Stream) CopyOutput(stdout, stderr io.Writer) error {
	_, err := stdcopy.StdCopy(stdout, io.MultiWriter(&s.tail, stderr), s.hijacked.Reader)
	return err
}

// tail keeps the last tailBytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-tailBytes):]...)
	if over := len(t.buf) - tailBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
