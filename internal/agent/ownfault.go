package agent

import "errors"

// ownFault is an error that a run ends with for its model's own replies.
type ownFault struct{ error }

func (o ownFault) Unwrap() error { return o.error }

// OwnFault marks the error of a run whose model's replies led nowhere: they were none, were refused
// by its server, or outgrew their bounds. The server was there, so that another try is likely to end the same.
func OwnFault(err error) error { return ownFault{err} }

// IsOwnFault says whether a run ended for its model's own replies.
func IsOwnFault(err error) bool {
	var o ownFault
	return errors.As(err, &o)
}
