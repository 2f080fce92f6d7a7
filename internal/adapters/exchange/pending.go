package exchange

// Pending is the part of a rewritten body that its reader has not read yet.
type Pending struct {
	Out []byte
	Err error // follows Out
}

// Deliver copies pending bytes to p, as io.Reader's Read does. While there are
// none it calls next, which adds to Out or sets Err.
func (d *Pending) Deliver(p []byte, next func()) (int, error) {
	for len(d.Out) == 0 {
		if d.Err != nil {
			return 0, d.Err
		}
		next()
	}
	n := copy(p, d.Out)
	d.Out = d.Out[n:]
	return n, nil
}
