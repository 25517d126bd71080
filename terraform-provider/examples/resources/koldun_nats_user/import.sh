terraform import koldun_nats_user.serving 'team/serving'
