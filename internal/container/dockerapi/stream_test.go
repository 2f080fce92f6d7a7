package dockerapi

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/pkg/stdcopy"
	"pgregory.net/rapid"
)

func streamOf(r io.Reader) *Stream {
	conn, other := net.Pipe()
	_ = other.Close()
	return newStream(types.HijackedResponse{Conn: conn, Reader: bufio.NewReader(r)})
}

// Feature: containers, Property 3: Streams Come Apart
//
// Whatever the daemon's own writer interleaves, however it arrives, stdout
// comes out whole and the end of stderr is kept (CTR-1).
func TestStreamDemux(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var wire, stdout, stderr bytes.Buffer
		out, errs := stdcopy.NewStdWriter(&wire, stdcopy.Stdout), stdcopy.NewStdWriter(&wire, stdcopy.Stderr)
		for range rapid.IntRange(0, 20).Draw(t, "frames") {
			data := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "data")
			if rapid.Bool().Draw(t, "stderr") {
				_, _ = errs.Write(data)
				stderr.Write(data)
			} else {
				_, _ = out.Write(data)
				stdout.Write(data)
			}
		}
		var r io.Reader = &wire
		if rapid.Bool().Draw(t, "dribble") {
			r = iotest.OneByteReader(r)
		}
		s := streamOf(r)
		got, err := io.ReadAll(s)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, stdout.Bytes()) {
			t.Fatalf("stdout: %d bytes, want %d", len(got), stdout.Len())
		}
		want := stderr.String()
		want = want[max(0, len(want)-tailBytes):]
		if s.tail.String() != want {
			t.Fatalf("stderr: %d bytes, want %d", len(s.tail.String()), len(want))
		}
	})
}

func TestStreamDamage(t *testing.T) {
	for name, wire := range map[string]string{
		"cut header": "\x01\x00\x00",
		"cut stdout": "\x01\x00\x00\x00\x00\x00\x00\x05abc",
		"cut stderr": "\x02\x00\x00\x00\x00\x00\x00\x05abc",
		"wrong kind": "\x07\x00\x00\x00\x00\x00\x00\x01a",
	} {
		_, err := io.ReadAll(streamOf(strings.NewReader(wire)))
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if strings.HasPrefix(name, "cut") && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
