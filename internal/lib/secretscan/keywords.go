package secretscan

// keywords finds any number of terms in one pass over a text (Aho-Corasick). ASCII letters match in both cases.
type keywords struct {
	class   [256]uint8 // class of each byte; 0 if it is in no term
	classes int
	next    []int32   // by state and class
	ends    [][]int32 // by state: the numbers of the terms that end here
}

// newKeywords builds the automaton for terms, which must be in lower case.
func newKeywords(terms []string) *keywords {
	k := &keywords{classes: 1}
	for _, w := range terms {
		for i := range len(w) {
			if k.class[w[i]] == 0 {
				k.class[w[i]] = uint8(k.classes)
				if 'a' <= w[i] && w[i] <= 'z' {
					k.class[w[i]-'a'+'A'] = uint8(k.classes)
				}
				k.classes++
			}
		}
	}
	addState := func() int32 {
		k.next = append(k.next, make([]int32, k.classes)...)
		k.ends = append(k.ends, nil)
		return int32(len(k.ends) - 1)
	}
	addState()
	for n, w := range terms {
		state := int32(0)
		for i := range len(w) {
			edge := int(state)*k.classes + int(k.class[w[i]])
			if k.next[edge] == 0 {
				to := addState()
				k.next[edge] = to
			}
			state = k.next[edge]
		}
		k.ends[state] = append(k.ends[state], int32(n))
	}
	k.linkStates()
	return k
}

// linkStates adds the missing edges of each state from its fallback: the state of the longest proper suffix of its
// text. It visits shorter texts first.
func (k *keywords) linkStates() {
	fallback := make([]int32, len(k.ends))
	queue := []int32{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		for c := range k.classes {
			edge := &k.next[int(state)*k.classes+c]
			below := int32(0) // the state for the text without its first letter
			if state != 0 {
				below = k.next[int(fallback[state])*k.classes+c]
			}
			if *edge == 0 {
				*edge = below
				continue
			}
			fallback[*edge] = below
			k.ends[*edge] = append(k.ends[*edge], k.ends[below]...)
			queue = append(queue, *edge)
		}
	}
}

// step returns the state after one more byte.
func (k *keywords) step(state int32, b byte) int32 {
	return k.next[int(state)*k.classes+int(k.class[b])]
}

// isAnyIn reports whether a text contains any of the terms.
func (k *keywords) isAnyIn(text string) bool {
	state := int32(0)
	for i := range len(text) {
		if state = k.step(state, text[i]); len(k.ends[state]) > 0 {
			return true
		}
	}
	return false
}
