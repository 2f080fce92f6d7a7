package company

import (
	"errors"
	"strings"
)

// Code is a stable name for a kind of error, shown to people and programs (E_CONFIG, E_BUDGET, ...). Codes may be added
// but never removed.
type Code string

// All error codes of the program. Each package adds its codes here, so that no name gets two meanings.
const (
	EInternal   Code = "E_INTERNAL"   // a bug in company itself
	EInvalid    Code = "E_INVALID"    // a request that can never be carried out as it is
	ENotFound   Code = "E_NOT_FOUND"  // the named object does not exist
	EConflict   Code = "E_CONFLICT"   // the state has changed; look again
	EStale      Code = "E_STALE"      // an old fence or epoch: the sender no longer owns the run
	EStopped    Code = "E_STOPPED"    // the office or the task is stopped
	EBudget     Code = "E_BUDGET"     // a cap would be exceeded
	EPlan       Code = "E_PLAN"       // a plan that Check refuses
	EProtected  Code = "E_PROTECTED"  // main, master or a protected path as a target
	EConfig     Code = "E_CONFIG"     // company.yaml
	EUsage      Code = "E_USAGE"      // wrong command line
	EHeld       Code = "E_HELD"       // another process holds the office
	EDocker     Code = "E_DOCKER"     // the daemon is absent or refuses
	EPolicy     Code = "E_POLICY"     // a container differs from the policy
	ELost       Code = "E_LOST"       // a container ended while an agent worked in it
	EImage      Code = "E_IMAGE"      // no worker image can be built
	EGit        Code = "E_GIT"        // a git command failed
	EHostKey    Code = "E_HOST_KEY"   // an ssh server that is unknown, or whose key has changed
	EObjects    Code = "E_OBJECTS"    // a pushed object that the checks refuse
	EGates      Code = "E_GATES"      // gates missing or unable to start
	EModel      Code = "E_MODEL"      // the model's server fails
	EModelAway  Code = "E_MODEL_AWAY" // the model's server is not reached, or takes no work
	EModelAuth  Code = "E_MODEL_AUTH"
	EAgent      Code = "E_AGENT"       // another program that is an agent fails
	EAgentStart Code = "E_AGENT_START" // such a program does not begin
	EBus        Code = "E_BUS"
	ELedger     Code = "E_LEDGER" // damage in the ledger
	ETimeout    Code = "E_TIMEOUT"
	EForge      Code = "E_FORGE"
	ERegistry   Code = "E_REGISTRY"  // a package registry does not answer
	EAuth       Code = "E_AUTH"      // a forge or a remote refuses the login
	EAccess     Code = "E_ACCESS"    // the office's own address refuses requests without a token
	EWaiting    Code = "E_WAITING"   // a person must answer first
	EDiverged   Code = "E_DIVERGED"  // a replay differs from its record
	EOutput     Code = "E_OUTPUT"    // the result cannot be written
	EMigration  Code = "E_MIGRATION" // an office in an older format
	EEvidence   Code = "E_EVIDENCE"  // evidence that is missing or invalid: of a review, or of a finished task
	ECrash      Code = "E_CRASH"     // work during which the process died repeatedly
)

// Class tells whether a retry or a person can fix an error, or neither (ERR-1).
type Class string

const (
	Recoverable   Class = "recoverable"    // trying again later may help
	HumanRequired Class = "human_required" // a person must change something
	Fatal         Class = "fatal"          // this run of the program cannot continue
)

// Error is the only error type that packages return to each other. It tells the failure (Message), the cause (Why), and
// the next step (Hint).
type Error struct {
	Code    Code   `json:"code"`
	Class   Class  `json:"class,omitempty"`
	Op      string `json:"op,omitempty"`   // the operation, e.g. "read company.yaml"
	Message string `json:"message"`        // one sentence for people
	Why     string `json:"why,omitempty"`  // the cause, if known
	Hint    string `json:"hint,omitempty"` // the next step, with a command if there is one
	Err     error  `json:"-"`              // the cause
	RunID   RunID  `json:"run_id,omitempty"`
	Phase   string `json:"phase,omitempty"`   // of the run, set by ForDisplay
	Number  int    `json:"number,omitempty"`  // stable number of the failure, set by ForDisplay
	Cause   string `json:"cause,omitempty"`   // text of Err, set by ForDisplay
	Details string `json:"details,omitempty"` // long text, shown with -v

	Line *ConfigLine `json:"-"` // a config line that fixes it, if known

	CurrentTask  TaskID     `json:"current_task,omitempty"`  // an unfinished task that blocks the request
	CurrentState TaskStatus `json:"current_state,omitempty"` // status of that task
}

// E returns an error with a code and a message for people.
func E(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Because returns a copy with the reason.
func (e *Error) Because(reason string) *Error { c := *e; c.Why = reason; return &c }

// Fix returns a copy with the next step.
func (e *Error) Fix(hint string) *Error { c := *e; c.Hint = hint; return &c }

// MendedBy returns a copy with a config line that fixes the error.
func (e *Error) MendedBy(l ConfigLine) *Error { c := *e; c.Line = &l; return &c }

// NeedsPerson returns a copy that only a person can fix; a retry cannot help.
func (e *Error) NeedsPerson() *Error { c := *e; c.Class = HumanRequired; return &c }

// Wrap returns a copy with the cause err. A nil err removes the cause.
func (e *Error) Wrap(err error) *Error { c := *e; c.Err = err; return &c }

func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op)
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Why != "" {
		b.WriteString(": ")
		b.WriteString(e.Why)
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// ForDisplay returns a copy for people and programs: with its class, its number, the phase of its run, and the text of
// its cause unless Why has it already (ERR-1).
func (e *Error) ForDisplay() *Error {
	c := *e
	guide, _ := GuideOf(c.Code)
	c.Class, c.Number = ClassOf(e), guide.Number
	c.Phase = c.RunID.Phase()
	if c.Err != nil && c.Err.Error() != c.Why {
		c.Cause = c.Err.Error()
	}
	return &c
}

// Is matches by code, so that errors.Is(err, company.E(company.EStale, ""))
// compares the kind of error and not its text.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Message == ""
}

// NeedsPerson reports whether err itself is marked as fixable only by a person. The class of its code does not count:
// work continues automatically until an error is marked.
func NeedsPerson(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Class == HumanRequired
}

// DetailsOf returns the long text of err, or "" if it has none.
func DetailsOf(err error) string {
	var fault *Error
	if errors.As(err, &fault) {
		return fault.Details
	}
	return ""
}

// CodeOf returns the code of err: EInternal for a foreign error, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var fault *Error
	if errors.As(err, &fault) {
		return fault.Code
	}
	return EInternal
}

// ErrUnended is wrapped by the error of a stop that did not wait for all running work. The process must end.
var ErrUnended = errors.New("not everything that was under way has ended")
