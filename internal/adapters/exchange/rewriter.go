package exchange

import "bufio"

// Rewriter is a reply's body that is handed on in another form, piece by piece.
type Rewriter struct {
	Body
	Ex    *Exchange
	Lines *bufio.Reader // of Body
	Out   []byte        // what its reader has not read yet
	Err   error         // follows Out
	next  func()
}

// NewRewriter makes one. next reads from Lines, and adds to Out or sets Err.
func NewRewriter(body Body, ex *Exchange, next func()) *Rewriter {
	return &Rewriter{Body: body, Ex: ex, Lines: bufio.NewReaderSize(body, 32<<10), next: next}
}

func (r *Rewriter) Read(p []byte) (int, error) {
	if r.Ex.tooBig.Load() {
		return 0, errTooBig // a cancelled connection gives what it holds already
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
