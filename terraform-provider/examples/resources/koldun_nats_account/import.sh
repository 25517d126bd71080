terraform import koldun_nats_account.team 'team'
