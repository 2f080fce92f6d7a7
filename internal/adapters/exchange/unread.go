package exchange

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"company/internal/adapters"
	"company/internal/lib/safetext"
)

// maxKept limits the bytes of a reply that are stored if it cannot be read.
const maxKept = maxReply

// tee copies what is read of a reply, for KeepUnread.
type tee struct {
	io.ReadCloser
	ex *Exchange
}

func (t tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.ex.raw.Write(p[:min(n, maxKept-t.ex.raw.Len())])
	return n, err
}

// KeepUnread stores a reply of which something could not be read, so that its form can be reported and learnt. err is
// the error of the call, or nil if the rest of the reply was understood. fields are the names of members that were not.
// If the call fails, the error names the file. Otherwise the log does. A file is replaced by the next one of its cause.
func (ex *Exchange) KeepUnread(err error, fields Unread) error {
	var fault *adapters.Error
	isUnread := errors.As(err, &fault) && fault.Kind == adapters.MalformedReply && ex.raw.Len() > 0
	if store := ex.client.cfg.Store; store == nil || !isUnread && len(fields) == 0 {
		return err
	}
	what := strings.Join(fields, ", ")
	if isUnread && ex.Said == nil { // the server's own words may hold a number that changes
		what = fault.Message
	}
	sum := sha256.Sum256([]byte(what))
	host := strings.Map(func(r rune) rune {
		if r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, ex.host)
	path, serr := ex.client.cfg.Store(
		fmt.Sprintf("reply-%s-%x.txt", host, sum[:4]), []byte(ex.client.cfg.Key.Redact(ex.raw.String())))
	switch {
	case serr != nil:
		ex.client.Log.Warn("a model's reply that could not be read was not stored", "server", ex.host, "err", serr)
	case isUnread:
		where := fmt.Sprintf("; %s sent it, and it is in %s", ex.host, path)
		fault.Message = safetext.Cut(fault.Message, max(0, maxMessage-len(where))) + where
	default:
		ex.client.Log.Warn("a part of a model's reply could not be read", "server", ex.host, "fields", what, "file", path)
	}
	return err
}
