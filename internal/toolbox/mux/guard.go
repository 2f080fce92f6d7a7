package mux

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// ProtocolViolation is the error of a session whose peer broke the protocol. It is a reason to kill the container.
type ProtocolViolation struct{ Reason string }

func (b *ProtocolViolation) Error() string { return "the pipe's peer broke the rules: " + b.Reason }

var errClosedHere = net.ErrClosed

// Frame types and flags of yamux's header. It has version, type, flags(2), stream id(4) and length(4), big endian.
const (
	headerSize = 12

	typeData   = 0
	typeWindow = 1
	typePing   = 2
	typeGoAway = 3

	flagSYN = 1
	flagACK = 2
	flagFIN = 4
	flagRST = 8

	// idleBurst and idleRate limit frames without content: empty frames and pings. A correct peer pings once in 10 s, and
	// each ping costs a goroutine and an answer.
	idleBurst = 64
	idleRate  = 10 // per second
)

// frameLimiter sits between yamux and the stream, and reads every frame header in both directions. yamux itself limits
// neither the streams that a peer holds open nor its pings. Its accept backlog only counts streams that are not
// accepted yet.
type frameLimiter struct {
	rwc      io.ReadWriteCloser
	ours     uint32 // parity of the ids of our streams
	slots    chan struct{}
	in, out  frames
	outMu    sync.Mutex // yamux writes from one goroutine, but the lock is cheap
	mu       sync.Mutex
	streams  map[uint32]uint8 // open streams, with the sides that ended their half
	peers    int              // number of streams that the peer opened
	err      error
	tokens   float64
	refilled time.Time
}

const (
	endedIn  = 1
	endedOut = 2
)

func newGuard(rwc io.ReadWriteCloser, host bool) *frameLimiter {
	g := &frameLimiter{
		rwc: rwc, slots: make(chan struct{}, MaxStreams),
		streams: make(map[uint32]uint8), tokens: idleBurst, refilled: time.Now(),
	}
	if host {
		g.ours = 1
	}
	return g
}

// Read passes bytes on to yamux. Bytes of a frame that breaks a rule are never passed on.
func (g *frameLimiter) Read(p []byte) (int, error) {
	n, err := g.rwc.Read(p)
	if n > 0 {
		if breach := g.in.feedBytes(p[:n], g.checkReceived); breach != nil {
			g.setError(breach)
			return 0, breach
		}
	}
	if err != nil {
		g.setError(fmt.Errorf("the pipe broke: %w", err))
	}
	return n, err
}

func (g *frameLimiter) Write(p []byte) (int, error) {
	g.outMu.Lock()
	defer g.outMu.Unlock()
	// Before the write, or the peer's answer could arrive before the stream is recorded. Freeing a slot slightly early is
	// harmless, because frames are sent in order.
	_ = g.out.feedBytes(p, g.noteSent)
	n, err := g.rwc.Write(p)
	if err != nil {
		g.setError(fmt.Errorf("the pipe broke: %w", err))
	}
	return n, err
}

func (g *frameLimiter) Close() error { return g.rwc.Close() }

// setError keeps the first error.
func (g *frameLimiter) setError(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
}

func (g *frameLimiter) firstError() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

func (g *frameLimiter) checkReceived(h header) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.version != 0 || h.kind > typeGoAway || h.flags&^(flagSYN|flagACK|flagFIN|flagRST) != 0 {
		return &ProtocolViolation{fmt.Sprintf("bad frame (version %d, type %d, flags %#x)", h.version, h.kind, h.flags)}
	}
	if h.kind == typeData && h.length > window {
		return &ProtocolViolation{fmt.Sprintf("a frame of %d bytes; the window is %d", h.length, window)}
	}
	if idle := h.kind >= typePing || h.flags == 0 && h.length == 0; idle && !g.takeToken() {
		return &ProtocolViolation{"a flood of pings or empty frames"}
	}
	if h.kind >= typePing {
		return nil
	}
	if h.flags&flagSYN != 0 {
		if h.id == 0 || h.id&1 == g.ours {
			return &ProtocolViolation{fmt.Sprintf("stream id %d is not the peer's to open", h.id)}
		}
		if _, dup := g.streams[h.id]; dup {
			return &ProtocolViolation{fmt.Sprintf("stream %d opened twice", h.id)}
		}
		if g.peers >= MaxStreams {
			return &ProtocolViolation{fmt.Sprintf("more than %d open streams", MaxStreams)}
		}
		g.peers++
		g.streams[h.id] = 0
	}
	g.endHalf(h, endedIn)
	return nil
}

func (g *frameLimiter) noteSent(h header) error {
	if h.kind >= typePing {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.flags&flagSYN != 0 {
		g.streams[h.id] = 0
	}
	g.endHalf(h, endedOut)
	return nil
}

// endHalf records that one side ended its half of a stream or reset it. It forgets the stream once both halves ended.
func (g *frameLimiter) endHalf(h header, side uint8) {
	ended, open := g.streams[h.id]
	if !open || h.flags&(flagFIN|flagRST) == 0 {
		return
	}
	ended |= side
	if h.flags&flagRST == 0 && ended != endedIn|endedOut {
		g.streams[h.id] = ended
		return
	}
	delete(g.streams, h.id)
	if h.id&1 != g.ours {
		g.peers--
		return
	}
	select {
	case <-g.slots:
	default:
	}
}

// takeToken takes a token for a frame without content, and reports whether there was one.
func (g *frameLimiter) takeToken() bool {
	now := time.Now()
	g.tokens = min(idleBurst, g.tokens+now.Sub(g.refilled).Seconds()*idleRate)
	g.refilled = now
	if g.tokens < 1 {
		return false
	}
	g.tokens--
	return true
}

type header struct {
	version, kind byte
	flags         uint16
	id, length    uint32
}

// frames finds frame headers in the bytes of one direction, regardless of how they are split.
type frames struct {
	buf  [headerSize]byte
	have int
	body uint32 // remaining bytes of the current data frame
}

func (f *frames) feedBytes(p []byte, see func(header) error) error {
	for len(p) > 0 {
		if f.body > 0 {
			n := min(uint64(f.body), uint64(len(p)))
			f.body -= uint32(n)
			p = p[n:]
			continue
		}
		n := copy(f.buf[f.have:], p)
		f.have += n
		p = p[n:]
		if f.have < headerSize {
			return nil
		}
		f.have = 0
		h := header{
			version: f.buf[0], kind: f.buf[1],
			flags:  binary.BigEndian.Uint16(f.buf[2:]),
			id:     binary.BigEndian.Uint32(f.buf[4:]),
			length: binary.BigEndian.Uint32(f.buf[8:]),
		}
		if h.kind == typeData {
			f.body = h.length
		}
		if err := see(h); err != nil {
			return err
		}
	}
	return nil
}
