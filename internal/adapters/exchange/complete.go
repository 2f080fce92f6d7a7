package exchange

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"company/internal/adapters"
)

// Reply is a reply as a driver understood it.
type Reply struct {
	adapters.Response
	Size   int   // in bytes; a token has at least one
	Opaque any   // for Message.Opaque, nil for none
	Broken error // why it cannot be used, nil if it can
}

// Why a reply cannot be used, in all wires.
var (
	ErrNotJSON = errors.New("a piece of the reply is not JSON")
	ErrTorn    = errors.New("the arguments of a call end within a character")
)

// Unread holds the names of members that could not be read.
type Unread []string

// Note records a member, unless it is ok.
func (u *Unread) Note(ok bool, name string) {
	const most = 20
	if name = Clip(name); !ok && len(*u) < most && !slices.Contains(*u, name) {
		*u = append(*u, name)
	}
}

// Complete returns the response for a reply. It gives ids to calls without one, and estimates the usage if the server's
// is not plausible. The error is MalformedReply for an empty or otherwise unusable reply.
func Complete(reply Reply, req adapters.Request, info adapters.Info) (adapters.Response, error) {
	out, calls := reply.Response, reply.Message.ToolCalls
	for _, call := range calls {
		if call.Name == "" && out.Finish == adapters.FinishStop {
			reply.Broken = errors.Join(reply.Broken, errors.New("a tool call without a name"))
			break
		}
	}
	req.PairCalls(calls)
	if out.Finish == adapters.FinishStop && len(calls) == 0 && strings.TrimSpace(out.Message.Content) == "" &&
		reply.Broken == nil {
		reply.Broken = errors.New("the reply is empty")
	}
	if reply.Opaque != nil {
		var err error
		out.Message.Opaque, err = json.Marshal(reply.Opaque)
		reply.Broken = errors.Join(reply.Broken, err)
	}
	if reply.Broken != nil {
		return adapters.Response{}, WithUsage(&adapters.Error{Kind: adapters.MalformedReply, Status: http.StatusOK,
			Message: reply.Broken.Error(), Unanswered: true}, reply, req, info)
	}
	out.Message.Role, out.Served = adapters.Assistant, info
	if !reply.Usage.Believable(req, req.Limit(info), reply.Size) {
		out.Usage = adapters.Estimate(req, req.Limit(info), reply.Size)
	}
	return out, nil
}

// WithUsage adds the server's count to a failure, if it is plausible.
func WithUsage(err error, reply Reply, req adapters.Request, info adapters.Info) error {
	var fault *adapters.Error
	if usage := reply.Usage; usage.Believable(req, req.Limit(info), reply.Size) && errors.As(err, &fault) {
		fault.Usage, fault.Unanswered = &usage, false
	}
	return err
}
