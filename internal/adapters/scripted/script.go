package scripted

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/lib/boundedparse/yaml"
	"company/internal/lib/lazyregexp"
)

// Script is a Responder read from YAML:
//
//	rules:
//	  - role: manager
//	    steps:
//	      - tool: submit_plan
//	        args: {waves: [{subtasks: [{title: greet, ...}]}]}
//	  - role: worker
//	    title: (?i)greet          # a regular expression
//	    run: 2                    # the second run of the subtask only
//	    brief: "in the file (?P<file>\\S+)"
//	    capture:
//	      name: {tool: read_file, match: "^package (\\w+)"}
//	    steps:
//	      - {tool: read_file, args: {path: greet.go}}
//	      - text: both at once
//	        calls:
//	          - {tool: write_file, args: {path: <<file>>, content: "package <<name>>\n"}}
//	          - {tool: run_command, args: {command: go vet ./...}}
//	      - {tool: finish, args: {summary: done}}
//
// The first rule that matches the request answers it, so list narrower rules first. The step is the number of
// replies in the conversation. Texts may contain placeholders <<name>>. The name is a named group of `brief`,
// which is matched in the first user message, or a capture. A capture is the first group of its match in the
// newest matching answer of its tool or, without a tool, message. Other names are role, task, subtask, run,
// title and n (the number of the run). A request that cannot be answered gets an HTTP 400 with the reason, which
// is not retried.
type Script struct {
	path  string
	rules []rule
}

type rule struct {
	Role    company.Role       `yaml:"role"`
	Task    company.TaskID     `yaml:"task"`
	Subtask company.SubtaskID  `yaml:"subtask"`
	Run     int                `yaml:"run"`
	Title   string             `yaml:"title"`
	Brief   string             `yaml:"brief"`
	Capture map[string]capture `yaml:"capture"`
	Steps   []step             `yaml:"steps"`

	title, brief *regexp.Regexp
}

type capture struct {
	Tool  string `yaml:"tool"`
	Match string `yaml:"match"`

	match *regexp.Regexp
}

type step struct {
	Text   string         `yaml:"text"`
	Tool   string         `yaml:"tool"` // short form of a step with one call
	Args   map[string]any `yaml:"args"`
	Raw    string         `yaml:"raw"`
	Calls  []call         `yaml:"calls"`
	Finish string         `yaml:"finish"`
	Usage  *usage         `yaml:"usage"`
	Delay  string         `yaml:"delay"`
	Fault  *fault         `yaml:"fault"`

	delay time.Duration
}

type call struct {
	Tool string         `yaml:"tool"`
	Args map[string]any `yaml:"args"`
	Raw  string         `yaml:"raw"`
}

type usage struct {
	Input  int `yaml:"input"`
	Cached int `yaml:"cached"`
	Output int `yaml:"output"`
}

type fault struct {
	Status  int               `yaml:"status"`
	Headers map[string]string `yaml:"headers"`
	Body    string            `yaml:"body"`
	Cut     bool              `yaml:"cut"`
	Hang    bool              `yaml:"hang"`
	Garbage bool              `yaml:"garbage"`
	Times   int               `yaml:"times"`
}

var (
	placeRE = lazyregexp.New(`<<([a-z_][a-z0-9_]*)>>`)
	builtin = []string{"role", "task", "subtask", "run", "title", "n"}
)

// LoadScript reads a script from a file. Mistakes in it are EConfig errors.
func LoadScript(path string) (*Script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, company.E(company.EConfig, "cannot read the script of a scripted model").
			Fix("set `script:` of the profile to the path of a YAML file").Wrap(err)
	}
	return ParseScript(path, text)
}

// ParseScript parses a script's text. path is used in messages.
func ParseScript(path string, text []byte) (*Script, error) {
	bad := func(reason string) error {
		return company.E(company.EConfig, path+" is not a valid script").Because(reason)
	}
	var file struct {
		Rules []rule `yaml:"rules"`
	}
	if err := yaml.Decode(text, &file, true); err != nil {
		return nil, bad(err.Error())
	}
	if len(file.Rules) == 0 {
		return nil, bad("it has no rules")
	}
	for i := range file.Rules {
		if err := file.Rules[i].compileRule(); err != nil {
			return nil, bad(fmt.Sprintf("rule %d: %v", i+1, err))
		}
	}
	return &Script{path: path, rules: file.Rules}, nil
}

// compileRule checks a rule and compiles its patterns.
func (r *rule) compileRule() error {
	if !slices.Contains([]company.Role{"", company.Manager, company.Worker, company.Reviewer, company.Merger}, r.Role) {
		return fmt.Errorf("unknown role %q: use manager, worker, reviewer or merger", r.Role)
	}
	if len(r.Steps) == 0 {
		return errors.New("it has no steps")
	}
	var err error
	if r.title, err = regexp.Compile(r.Title); err != nil {
		return fmt.Errorf("title: %w", err)
	}
	if r.brief, err = regexp.Compile(r.Brief); err != nil {
		return fmt.Errorf("brief: %w", err)
	}
	known := append(slices.Clone(builtin), r.brief.SubexpNames()...)
	for name, capture := range r.Capture {
		if capture.match, err = regexp.Compile(capture.Match); err != nil {
			return fmt.Errorf("capture %s: %w", name, err)
		}
		if capture.match.NumSubexp() < 1 {
			return fmt.Errorf("capture %s: match needs a group in parentheses", name)
		}
		r.Capture[name] = capture
		known = append(known, name)
	}
	for i := range r.Steps {
		if err := r.Steps[i].compileStep(known); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (s *step) compileStep(known []string) error {
	if s.Tool != "" {
		if len(s.Calls) > 0 {
			return errors.New("it has both tool and calls")
		}
		s.Calls = []call{{Tool: s.Tool, Args: s.Args, Raw: s.Raw}}
	} else if s.Args != nil || s.Raw != "" {
		return errors.New("it has args but no tool")
	}
	if len(s.Calls) == 0 && s.Text == "" && s.Fault == nil {
		return errors.New("it is empty: give text, tool, calls or fault")
	}
	texts := []any{s.Text}
	for _, c := range s.Calls {
		if c.Tool == "" {
			return errors.New("a call has no tool")
		}
		texts = append(texts, c.Args, c.Raw)
	}
	_, err := fillPlaceholders(texts, func(name string) (string, error) {
		if !slices.Contains(known, name) {
			return "", fmt.Errorf("<<%s>> is not captured by this rule", name)
		}
		return "", nil
	})
	if err != nil {
		return err
	}
	if s.Delay != "" {
		if s.delay, err = time.ParseDuration(s.Delay); err != nil || s.delay < 0 {
			return fmt.Errorf("invalid delay %q: use a duration like 2s", s.Delay)
		}
	}
	if fault := s.Fault; fault != nil {
		kinds := 0
		for _, set := range []bool{fault.Status != 0, fault.Cut, fault.Hang, fault.Garbage} {
			if set {
				kinds++
			}
		}
		if kinds != 1 || fault.Times < 0 || fault.Status != 0 && (fault.Status < 400 || fault.Status > 599) {
			return errors.New("invalid fault: use a status (400 to 599), cut, hang or garbage")
		}
	}
	return nil
}

// Reply returns the next step of the first matching rule.
func (s *Script) Reply(exchange Exchange) Reply {
	if !exchange.HasHeader {
		return Reply{Err: "the conversation does not begin with a #company header"}
	}
	_, _, _, n, err := exchange.Header.Run.Split()
	if err != nil {
		return Reply{Err: err.Error()}
	}
	for i := range s.rules {
		rule := &s.rules[i]
		if !rule.matches(exchange, n) {
			continue
		}
		if exchange.Turn >= len(rule.Steps) {
			return Reply{Err: fmt.Sprintf(
				"%s: rule %d has %d steps and run %s is at step %d", s.path, i+1, len(rule.Steps), exchange.Header.Run,
				exchange.Turn+1)}
		}
		reply, err := rule.Steps[exchange.Turn].buildReply(
			func(name string) (string, error) { return rule.placeholderValue(name, exchange, n) })
		if err != nil {
			return Reply{Err: fmt.Sprintf("%s: rule %d, step %d: %v", s.path, i+1, exchange.Turn+1, err)}
		}
		return reply
	}
	return Reply{Err: fmt.Sprintf(
		"%s: no rule for %s of %s, titled %q", s.path, exchange.Header.Role, exchange.Header.Run, exchange.Header.Title)}
}

func (r *rule) matches(exchange Exchange, n int) bool {
	header := exchange.Header
	return (r.Role == "" || r.Role == header.Role) && (r.Task == "" || r.Task == header.Task) &&
		(r.Subtask == "" || r.Subtask == header.Subtask) &&
		(r.Run == 0 || r.Run == n) && r.title.MatchString(header.Title) && r.brief.MatchString(exchange.Brief())
}

// placeholderValue returns the value of <<name>>.
func (r *rule) placeholderValue(name string, exchange Exchange, n int) (string, error) {
	if capture, ok := r.Capture[name]; ok {
		for _, message := range slices.Backward(exchange.Messages) {
			// Without a tool, match every message to the model.
			if capture.Tool != "" && (message.Role != adapters.ToolRole || message.ToolName != capture.Tool) ||
				message.Role == adapters.Assistant {
				continue
			}
			if groups := capture.match.FindStringSubmatch(message.Content); groups != nil {
				return groups[1], nil
			}
		}
		return "", fmt.Errorf("the capture %s has no match yet", name)
	}
	if i := r.brief.SubexpIndex(name); i > 0 {
		return r.brief.FindStringSubmatch(exchange.Brief())[i], nil
	}
	switch name {
	case "role":
		return string(exchange.Header.Role), nil
	case "task":
		return string(exchange.Header.Task), nil
	case "subtask":
		return string(exchange.Header.Subtask), nil
	case "run":
		return string(exchange.Header.Run), nil
	case "title":
		return exchange.Header.Title, nil
	}
	return strconv.Itoa(n), nil
}

// buildReply returns a step as a Reply with its placeholders filled in.
func (s step) buildReply(value func(string) (string, error)) (Reply, error) {
	text, err := fillPlaceholders(s.Text, value)
	if err != nil {
		return Reply{}, err
	}
	out := Reply{Text: text.(string), Finish: s.Finish, Delay: s.delay}
	for _, call := range s.Calls {
		filled, err := fillPlaceholders([]any{call.Args, call.Raw}, value)
		if err != nil {
			return Reply{}, err
		}
		parts := filled.([]any)
		out.Calls = append(out.Calls, Call{Tool: call.Tool, Args: parts[0], Raw: parts[1].(string)})
	}
	if s.Usage != nil {
		out.Usage = &adapters.Usage{InputTokens: s.Usage.Input, CachedTokens: s.Usage.Cached, OutputTokens: s.Usage.Output}
	}
	if fault := s.Fault; fault != nil {
		out.Fault = &Fault{Status: fault.Status, Headers: fault.Headers, Body: fault.Body, Cut: fault.Cut, Hang: fault.Hang,
			Garbage: fault.Garbage,
			Times:   fault.Times}
	}
	return out, nil
}

// fillPlaceholders copies a YAML value and fills in the placeholders in its texts.
func fillPlaceholders(v any, value func(string) (string, error)) (any, error) {
	switch v := v.(type) {
	case string:
		var failed error
		out := placeRE.ReplaceAllStringFunc(v, func(place string) string {
			s, err := value(strings.Trim(place, "<>"))
			failed = errors.Join(failed, err)
			return s
		})
		return out, failed
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = fillPlaceholders(v[i], value); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		if v == nil {
			return map[string]any{}, nil
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			var err error
			if out[key], err = fillPlaceholders(item, value); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}
