package api

import (
	"net/http"
	"slices"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/feed"
	"company/internal/replay"
	"company/internal/upkeep"
	"company/internal/view"
)

// Route is one operation of the API. The handlers, the OpenAPI description and docs/api.md
// are made from the same list.
type Route struct {
	Method  string
	Path    string // below /api/v1/, with {id} where an id stands
	Summary string // what a GET answers, or what a POST does
	Query   []Parameter
	// Body is a value of the type that the request brings. A request without a body has nil.
	Body any
	// Answer is a value of the answer's type; a stream has the type of one event. JSON of any
	// shape has nil.
	Answer any
	Stream bool // the answer is server-sent events
	// Media are the types of an answer that is no JSON.
	Media []string
	Keyed bool // Idempotency-Key makes a repeat harmless

	serve func(s *Server, w http.ResponseWriter, r *http.Request)
}

// Parameter is one that a request has behind its path.
type Parameter struct {
	Name string
	Type string // of JSON Schema: string, integer, boolean; time: a string of RFC 3339
	Many bool   // it may be given again and again
	Doc  string
}

// Routes lists the operations of the API, in the order of docs/api.md.
func Routes() []Route {
	return slices.Concat([]Route{
		{Method: http.MethodGet, Path: "hello", Summary: "the process that answers, and its version", Answer: ServerInfo{}, serve: (*Server).serveInfo},
		{Method: http.MethodGet, Path: "openapi.json", Summary: "this description, of the version that answers", serve: (*Server).serveDescription},
	}, resources, []Route{
		{Method: http.MethodGet, Path: "runs/{id}/transcript", Summary: "the conversation of a run: an event for each message and tool call, and the run with its totals at the beginning and at the end; followed, what calls under way print", Stream: true, Answer: agent.TranscriptEntry{}, serve: (*Server).serveTranscript,
			Query: []Parameter{{Name: "follow", Type: "boolean", Doc: "go on until the run ends"}}},
		{Method: http.MethodGet, Path: "tasks/{id}/record", Summary: "what a finished task is replayed from, piece by piece", Stream: true, Answer: replay.Entry{}, serve: (*Server).serveRecord},
		{Method: http.MethodGet, Path: "tasks/{id}/attachment", Summary: "the content of a file that came with the instruction, as an image or as plain text", Media: append(slices.Clone(company.AttachmentTypes[1:]), company.AttachedText), serve: (*Server).serveAttachment,
			Query: []Parameter{{Name: "name", Type: "string", Doc: "of the file, as attachments of the task has it"}}},
		{Method: http.MethodGet, Path: "verification", Summary: "the whole ledger and every blob, read and held to their hashes: it takes as long as the disk needs", Answer: view.Verification{}, serve: (*Server).serveVerification},
		{Method: http.MethodGet, Path: "leftovers", Summary: "what `company cleanup` would remove of ended tasks, as its `--dry-run -o json`: nothing is removed", Answer: upkeep.Report{}, serve: (*Server).serveLeftovers,
			Query: []Parameter{
				{Name: "all", Type: "boolean", Doc: "of all tasks that have ended, however recently"},
				{Name: "unmerged", Type: "boolean", Doc: "also work that was never merged"},
			}},
		{Method: http.MethodGet, Path: "events", Summary: "the feed: what happens, as company feed shows it", Stream: true, Answer: feed.Item{}, serve: (*Server).serveEvents,
			Query: []Parameter{
				{Name: "from", Type: "integer", Doc: "number of the first event; without it the feed begins with the first of all"},
				{Name: "until", Type: "integer", Doc: "number of the last event; the stream ends behind it"},
				{Name: "task", Type: "string", Doc: "of this task alone"},
			}},
		{Method: http.MethodPost, Path: "commands", Summary: "sends a command of the president; the answer comes after its events are in the ledger", Body: CommandEnvelope{}, Answer: CommandResult{}, serve: (*Server).serveCommand},
		{Method: http.MethodPost, Path: "trials", Summary: "tells the events that a command would make now, and writes nothing", Body: CommandEnvelope{}, Answer: CommandResult{}, serve: (*Server).serveTrial},
		{Method: http.MethodPost, Path: "tickets", Summary: "makes a link by which a browser gets in once, within ten minutes; company open", Answer: Link{}, serve: (*Server).serveTicket,
			Query: []Parameter{{Name: "own", Type: "boolean", Doc: "only a program of the office's user on this machine, or of root, may use it: for a link that others may read in the list of processes"}}},
		{Method: http.MethodPost, Path: "session", Summary: "takes the ticket of a link, and gives a token for Authorization: Bearer; over TCP it is the one request without a token", Body: TicketExchange{}, Answer: Session{}, serve: (*Server).serveSession},
	}, deskRoutes, configRoutes, pullRoutes)
}

// CommandKind is a command that people may send.
type CommandKind struct {
	Name     string
	Summary  string
	Required []string // fields without which it is refused
	Example  any      // a value of its type
}

// CommandKinds lists the commands that people may send.
func CommandKinds() []CommandKind {
	var kinds []CommandKind
	for _, c := range commandCodecs {
		kinds = append(kinds, CommandKind{Name: c.kind, Summary: c.summary, Required: c.required, Example: c.example})
	}
	return kinds
}

// Problem is an error on the wire: a problem document (RFC 9457) with the company's
// code, and with what to do.
type Problem struct {
	Title   string        `json:"title"`            // what happened
	Status  int           `json:"status"`           // of HTTP
	Detail  string        `json:"detail,omitempty"` // why, behind the text that was wrapped around the error
	Code    company.Code  `json:"code"`
	Class   company.Class `json:"class,omitempty"`
	Hint    string        `json:"hint,omitempty"` // what to do
	Run     company.RunID `json:"run_id,omitempty"`
	Details string        `json:"details,omitempty"` // long text

	CurrentTask  company.TaskID     `json:"current_task,omitempty"`  // unfinished, and in the way
	CurrentState company.TaskStatus `json:"current_state,omitempty"` // of that task
}
