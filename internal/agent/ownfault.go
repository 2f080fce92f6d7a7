package agent

import "errors"

// ownFault is the error of a run that failed because of its model's replies.
type ownFault struct{ error }

func (o ownFault) Unwrap() error { return o.error }

// OwnFault marks the error of a run that failed because of its model's replies. They were empty or malformed,
// were refused by the model's server, or exceeded their limits. The server was reachable, so another try is
// likely to end the same.
func OwnFault(err error) error { return ownFault{err} }

// IsOwnFault reports whether a run failed because of its model's replies.
func IsOwnFault(err error) bool {
	var o ownFault
	return errors.As(err, &o)
}
