package exchange

import "bufio"

// Rewriter converts a reply's body piece by piece.
type Rewriter struct {
	Body
	Ex    *Exchange
	Lines *bufio.Reader // of Body
	Out   []byte        // converted bytes that are not read yet
	Err   error         // returned after Out is read
	next  func()
}

// NewRewriter returns a Rewriter. next must read from Lines, and add to Out or set Err.
func NewRewriter(body Body, ex *Exchange, next func()) *Rewriter {
	return &Rewriter{Body: body, Ex: ex, Lines: bufio.NewReaderSize(body, 32<<10), next: next}
}

func (r *Rewriter) Read(p []byte) (int, error) {
	if r.Ex.tooBig.Load() {
		return 0, errTooBig // a cancelled connection still returns buffered data
	}
	for len(r.Out) == 0 {
		if r.Err != nil {
			return 0, r.Err
		}
		r.next()
	}
	n := copy(p, r.Out)
	r.Out = r.Out[n:]
	return n, nil
}
