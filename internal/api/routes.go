package api

import (
	"net/http"
	"slices"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/upkeep"
)

// Route is one operation of the API. The handlers, the OpenAPI description and docs/api.md use the
// same list.
type Route struct {
	Method  string
	Path    string // below /api/v1/, with {id} for an id
	Summary string // describes the answer of a GET, or the action of a POST
	Query   []Parameter
	// Body is a value of the request's body type. It is nil for a request without a body.
	Body any
	// Answer is a value of the answer's type. For a stream it is the type of one event. It is nil for
	// JSON of any shape.
	Answer any
	Stream bool // the answer is a stream of server-sent events
	// Media lists the media types of an answer other than JSON.
	Media []string
	Keyed bool // Idempotency-Key makes repeats harmless

	serve func(s *Server, w http.ResponseWriter, r *http.Request)
}

// Parameter is a query parameter of a request.
type Parameter struct {
	Name string
	Type string // JSON Schema type: string, integer, boolean; or time: a string in RFC 3339
	Many bool   // it may be repeated
	Doc  string
}

// Routes lists the operations of the API, in the order of docs/api.md.
func Routes() []Route {
	return slices.Concat([]Route{
		{Method: http.MethodGet, Path: "hello", Summary: "the process that answers, and its version", Answer: ServerInfo{},
			serve: (*Server).serveInfo},
		{Method: http.MethodGet, Path: "openapi.json", Summary: "this description, of the version that answers",
			serve: (*Server).serveDescription},
	}, resources, []Route{
		{Method: http.MethodGet, Path: "runs/{id}/transcript",
			Summary: "the conversation of a run: an event for each message and tool call, and the run with its totals at the " +
				"beginning and at the end; with follow, also the output of running calls", Stream: true,
			Answer: agent.TranscriptEntry{},
			serve:  (*Server).serveTranscript,
			Query:  []Parameter{{Name: "follow", Type: "boolean", Doc: "keep streaming until the run ends"}}},
		{Method: http.MethodGet, Path: "tasks/{id}/record", Summary: "the record from which a finished task is replayed, piece by piece",
			Stream: true, Answer: replay.Entry{}, serve: (*Server).serveRecord},
		{Method: http.MethodGet, Path: "tasks/{id}/attachment",
			Summary: "the content of a file that came with the instruction, as an image or as plain text",
			Media:   append(slices.Clone(company.AttachmentTypes[1:]), company.AttachedText), serve: (*Server).serveAttachment,
			Query: []Parameter{{Name: "name", Type: "string", Doc: "of the file, as attachments of the task has it"}}},
		{Method: http.MethodGet, Path: "verification",
			Summary: "the whole ledger and every blob, read and held to their hashes: it takes as long as the disk needs",
			Answer:  view.Verification{}, serve: (*Server).serveVerification},
		{Method: http.MethodGet, Path: "leftovers",
			Summary: "what `company cleanup` would remove of ended tasks, as its `--dry-run -o json`: nothing is removed",
			Answer:  upkeep.Report{}, serve: (*Server).serveLeftovers,
			Query: []Parameter{
				{Name: "all", Type: "boolean", Doc: "include tasks that ended recently"},
				{Name: "unmerged", Type: "boolean", Doc: "include unmerged work"},
			}},
		{Method: http.MethodGet, Path: "events", Summary: "the event feed, as company feed shows it", Stream: true,
			Answer: feed.Item{}, serve: (*Server).serveEvents,
			Query: []Parameter{
				{Name: "from", Type: "integer", Doc: "number of the first event (default: the first of all)"},
				{Name: "until", Type: "integer", Doc: "number of the last event; the stream ends after it"},
				{Name: "task", Type: "string", Doc: "only of this task"},
			}},
		{Method: http.MethodPost, Path: "commands",
			Summary: "sends a command of the president; answers once its events are in the ledger",
			Body:    CommandEnvelope{}, Answer: CommandResult{}, serve: (*Server).serveCommand},
		{Method: http.MethodPost, Path: "trials",
			Summary: "returns the events that a command would cause now, and writes nothing", Body: CommandEnvelope{},
			Answer: CommandResult{}, serve: (*Server).serveTrial},
		{Method: http.MethodPost, Path: "tickets",
			Summary: "makes a link by which a browser gets in once, within ten minutes; company open", Answer: Link{},
			serve: (*Server).serveTicket,
			Query: []Parameter{{Name: "own", Type: "boolean",
				Doc: "only programs of the office's user on this machine, or of root, may use it: for links that others may " +
					"see in the process list"}}},
		{Method: http.MethodPost, Path: "session",
			Summary: "exchanges the ticket of a link for a token (Authorization: Bearer); over TCP, this is the only request " +
				"without a token", Body: TicketExchange{}, Answer: Session{}, serve: (*Server).serveSession},
	}, deskRoutes, configRoutes, pullRoutes)
}

// CommandKind describes a command that people may send.
type CommandKind struct {
	Name     string
	Summary  string
	Required []string // required fields
	Example  any      // value of its type
}

// CommandKinds lists the commands that people may send.
func CommandKinds() []CommandKind {
	var kinds []CommandKind
	for _, c := range commandCodecs {
		kinds = append(kinds, CommandKind{Name: c.kind, Summary: c.summary, Required: c.required, Example: c.example})
	}
	return kinds
}

// Problem is an error as a problem document (RFC 9457), with the company's code and a hint.
type Problem struct {
	Title   string        `json:"title"`            // error message
	Status  int           `json:"status"`           // HTTP status
	Detail  string        `json:"detail,omitempty"` // cause, after the text that wraps the error
	Code    company.Code  `json:"code"`
	Class   company.Class `json:"class,omitempty"`
	Hint    string        `json:"hint,omitempty"` // suggested fix
	Run     company.RunID `json:"run_id,omitempty"`
	Details string        `json:"details,omitempty"` // long text

	CurrentTask  company.TaskID     `json:"current_task,omitempty"`  // unfinished task that blocks the request
	CurrentState company.TaskStatus `json:"current_state,omitempty"` // state of that task
}
