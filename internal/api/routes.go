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
		{Method: http.MethodGet, Path: "hello", Summary: "process and version of the server", Answer: ServerInfo{},
			serve: (*Server).serveInfo},
		{Method: http.MethodGet, Path: "openapi.json", Summary: "OpenAPI description",
			serve: (*Server).serveDescription},
	}, resources, []Route{
		{Method: http.MethodGet, Path: "runs/{id}/transcript",
			Summary: "stream: messages and tool calls of a run", Stream: true, Answer: agent.TranscriptEntry{},
			serve: (*Server).serveTranscript,
			Query: []Parameter{
				{Name: "visibility", Type: "string", Doc: "full includes tool calls; anything else gives the summary"},
				{Name: "follow", Type: "boolean", Doc: "continue until the run ends, with live output"},
			}},
		{Method: http.MethodGet, Path: "tasks/{id}/record", Summary: "stream: record of a finished task, for replay",
			Stream: true, Answer: replay.Entry{}, serve: (*Server).serveRecord},
		{Method: http.MethodGet, Path: "evidence/{id}", Summary: "claims of a task, compared with what shows them",
			Answer: view.EvidenceCheck{}, serve: (*Server).serveEvidence},
		{Method: http.MethodGet, Path: "tasks/{id}/attachment",
			Summary: "content of an attachment",
			Media:   append(slices.Clone(company.AttachmentTypes[1:]), company.AttachedText), serve: (*Server).serveAttachment,
			Query: []Parameter{{Name: "name", Type: "string", Doc: "file name"}}},
		{Method: http.MethodGet, Path: "verification",
			Summary: "verification of the whole ledger and all blobs (slow)",
			Answer:  view.Verification{}, serve: (*Server).serveVerification},
		{Method: http.MethodGet, Path: "leftovers",
			Summary: "what `company cleanup --dry-run` lists",
			Answer:  upkeep.Report{}, serve: (*Server).serveLeftovers,
			Query: []Parameter{
				{Name: "all", Type: "boolean", Doc: "include recent tasks"},
				{Name: "unmerged", Type: "boolean", Doc: "include unmerged work"},
			}},
		{Method: http.MethodGet, Path: "events", Summary: "stream: event feed", Stream: true,
			Answer: feed.Item{}, serve: (*Server).serveEvents,
			Query: []Parameter{
				{Name: "from", Type: "integer", Doc: "first event (default: 1)"},
				{Name: "until", Type: "integer", Doc: "last event"},
				{Name: "task", Type: "string", Doc: "only this task"},
				{Name: "run", Type: "string", Doc: "only this run"},
				{Name: "kind", Type: "string", Doc: "only events of this kind, such as run.ended; may be repeated"},
			}},
		{Method: http.MethodPost, Path: "commands",
			Summary: "send a command",
			Body:    CommandEnvelope{}, Answer: CommandResult{}, serve: (*Server).serveCommand},
		{Method: http.MethodPost, Path: "trials",
			Summary: "dry run of a command", Body: CommandEnvelope{},
			Answer: CommandResult{}, serve: (*Server).serveTrial},
		{Method: http.MethodPost, Path: "work",
			Summary: "start the work of the office, unless it has started (local programs only)",
			Answer:  WorkStart{}, serve: onlyLocal((*Server).serveWork)},
		{Method: http.MethodPost, Path: "end",
			Summary: "end a background company; its work is saved (local programs only)",
			Answer:  struct{}{}, serve: onlyLocal((*Server).serveEnd),
			Query: []Parameter{{Name: "unless", Type: "string",
				Doc: "busy: not if a task can continue; work: not if work has started"}}},
		{Method: http.MethodPost, Path: "tickets",
			Summary: "create a one-time link for a browser, valid for ten minutes", Answer: Link{},
			serve: (*Server).serveTicket,
			Query: []Parameter{{Name: "own", Type: "boolean",
				Doc: "only local programs of the same user may use it"}}},
		{Method: http.MethodPost, Path: "session",
			Summary: "exchange a link's ticket for a token", Body: TicketExchange{}, Answer: Session{},
			serve: (*Server).serveSession},
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
	Phase   string        `json:"phase,omitempty"`   // of the run
	Number  int           `json:"number,omitempty"`  // stable number of the failure, for some codes
	Cause   string        `json:"cause,omitempty"`   // text of the underlying error
	Details string        `json:"details,omitempty"` // long text

	CurrentTask  company.TaskID     `json:"current_task,omitempty"`  // unfinished task that blocks the request
	CurrentState company.TaskStatus `json:"current_state,omitempty"` // state of that task
}
