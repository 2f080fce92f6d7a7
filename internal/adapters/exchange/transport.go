package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxErrorBody limits the part of an error reply that is read, because servers send whole HTML pages.
const maxErrorBody = 64 << 10

var errTooBig = errors.New("the reply is too large")

// retryAfter reads the header as seconds, as a date, or in OpenAI's milliseconds. A date is compared with the
// server's own Date header, because the local clock may differ.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return boundedDuration(ms / 1000)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		return boundedDuration(seconds)
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return boundedDuration(at.Sub(now).Seconds())
	}
	return 0
}

// boundedDuration converts a server's number of seconds without overflow.
func boundedDuration(seconds float64) time.Duration {
	return time.Duration(min(seconds, 7*24*3600) * float64(time.Second))
}

// readLine reads one line of a reply's body with its line end, or the rest after the last line end. A line is
// limited to the size of a reply.
func (ex *Exchange) readLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := reader.ReadSlice('\n')
		line = append(line, piece...)
		if int64(len(line)) > maxLine {
			return nil, ex.markTooBig()
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			ex.unread += len(bytes.TrimSpace(line))
			return line, err
		}
	}
}

// ReadRest reads the rest of a reply's body as one document. It is limited to the size of a reply.
func (ex *Exchange) readRest(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxLine+1))
	if err == nil && int64(len(data)) > maxLine {
		return nil, ex.markTooBig()
	}
	ex.unread += len(data)
	return data, err
}

// maxLine allows for the frame around a reply that comes in one piece.
const maxLine = maxReply + 64<<10

// limitedBody counts the bytes on the wire and fails beyond the limit.
type limitedBody struct {
	io.ReadCloser
	left int64
	ex   *Exchange
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, b.ex.markTooBig()
	}
	return n, err
}
