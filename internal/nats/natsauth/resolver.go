package natsauth

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/fault"
)

// straggle is how long the rest of the servers has to answer when enough have.
const straggle = 500 * time.Millisecond

// A resolver asks the servers of a system, each of which keeps the accounts. A majority
// has to answer: so a change is known to some server of every later majority, and a
// server that was away gets it from the others.
type resolver struct {
	nc      *nats.Conn
	servers int
	every   bool // all servers have to answer
}

// all asks for what has to hold on each server: one that was away brings a deleted
// account back.
func (r resolver) all() resolver {
	r.every = true
	return r
}

func (r resolver) enough(answers int) bool {
	return answers >= r.servers || !r.every && answers > r.servers/2
}

// ask returns the answers of the servers to a request. Errors: Transient if too few
// answer, Denied.
func (r resolver) ask(ctx context.Context, subject string, body []byte) ([][]byte, error) {
	inbox := r.nc.NewInbox()
	sub, err := r.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, fault.Errorf(fault.Transient, "cannot ask the NATS servers: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := r.nc.PublishRequest(subject, inbox, body); err != nil {
		return nil, fault.Errorf(fault.Transient, "cannot ask the NATS servers: %w", err)
	}
	var out [][]byte
	for asked := time.Now(); len(out) < r.servers; {
		within := pushTimeout - time.Since(asked)
		if r.enough(len(out)) {
			within = straggle
		}
		m, err := next(ctx, sub, within)
		switch {
		case err == nil && m.Header.Get("Status") != "503":
			out = append(out, m.Data)
			continue
		case r.enough(len(out)):
			return out, nil
		case err == nil:
			err = errors.New("no server has a resolver of accounts (resolver: full)")
		case errors.Is(err, context.DeadlineExceeded):
			err = errors.New("no answer: are the servers up, and may the user of the system account publish on this subject?")
		}
		return nil, fault.Errorf(fault.Transient, "cannot ask the NATS servers on %q: %d of %d have answered: %w", subject, len(out), r.servers, err)
	}
	return out, nil
}

func next(ctx context.Context, sub *nats.Subscription, within time.Duration) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

// confirm sends a request that the servers have to confirm. Errors: Invalid with the
// reason of a server that refuses it; those of ask.
func (r resolver) confirm(ctx context.Context, subject string, body []byte) error {
	answers, err := r.ask(ctx, subject, body)
	if err != nil {
		return err
	}
	for _, answer := range answers {
		var said struct {
			Data struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"data"`
			Error struct {
				Description string `json:"description"`
			} `json:"error"`
		}
		if err := json.Unmarshal(answer, &said); err != nil {
			return fault.Errorf(fault.Corrupt, "cannot read the answer of a NATS server on %q: %w", subject, err)
		}
		if said.Error.Description != "" || said.Data.Code != 200 {
			return fault.Errorf(fault.Invalid, "a NATS server refuses it: %s%s", said.Error.Description, said.Data.Message)
		}
	}
	return nil
}

// list returns how many servers have each account.
func (r resolver) list(ctx context.Context) (map[string]int, error) {
	answers, err := r.ask(ctx, "$SYS.REQ.CLAIMS.LIST", nil)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, answer := range answers {
		var said struct {
			Data []string `json:"data"`
		}
		if err := json.Unmarshal(answer, &said); err != nil {
			return nil, fault.Errorf(fault.Corrupt, "cannot read the list of NATS accounts: %w", err)
		}
		for _, id := range said.Data {
			out[id]++
		}
	}
	return out, nil
}

// find returns the newest JWT of an account, or "" if no server has it.
func (r resolver) find(ctx context.Context, account string) (string, error) {
	answers, err := r.ask(ctx, "$SYS.REQ.ACCOUNT."+account+".CLAIMS.LOOKUP", nil)
	if err != nil {
		return "", err
	}
	newest, at := "", time.Time{}
	for _, answer := range answers {
		if issued := issuedAt(string(answer)); len(answer) > 0 && (newest == "" || issued.After(at)) {
			newest, at = string(answer), issued
		}
	}
	return newest, nil
}

// trusts reports whether all servers that answer accept a key's signature for accounts.
func (r resolver) trusts(ctx context.Context, signer string) (bool, error) {
	answers, err := r.ask(ctx, "$SYS.REQ.SERVER.PING.VARZ", nil)
	if err != nil {
		return false, err
	}
	known := 0
	for _, answer := range answers {
		var said struct {
			Data struct {
				Operators []struct {
					Subject string `json:"sub"`
					Nats    struct {
						Keys []string `json:"signing_keys"`
					} `json:"nats"`
				} `json:"trusted_operators_claim"`
			} `json:"data"`
		}
		if err := json.Unmarshal(answer, &said); err != nil {
			return false, fault.Errorf(fault.Corrupt, "cannot read the operators of a NATS server: %w", err)
		}
		for _, o := range said.Data.Operators {
			if slices.Contains(append(o.Nats.Keys, o.Subject), signer) {
				known++
				break
			}
		}
	}
	return known == len(answers), nil
}

// disk returns the bytes that accounts of a single server may reserve together, 0 if it
// is one of a cluster, which does not check.
func (r resolver) disk(ctx context.Context) (int64, error) {
	answers, err := r.ask(ctx, "$SYS.REQ.SERVER.PING.JSZ", nil)
	if err != nil {
		return 0, err
	}
	var said struct {
		Data struct {
			Config struct {
				MaxStore int64 `json:"max_storage"`
			} `json:"config"`
			Meta json.RawMessage `json:"meta_cluster"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answers[0], &said); err != nil {
		return 0, fault.Errorf(fault.Corrupt, "cannot read the storage of a NATS server: %w", err)
	}
	if len(said.Data.Meta) > 0 {
		return 0, nil
	}
	return said.Data.Config.MaxStore, nil
}
