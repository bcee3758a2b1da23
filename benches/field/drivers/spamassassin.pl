#!/usr/bin/env perl
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: SpamAssassin
# debian: spamassassin
# deterministic: yes
# setting: bayes - Bayes alone, from 200 mails of each kind on; BAYES_95 is spam, below 0.4 is ham
# setting: bayes-at-once - the same, with bayes_min_ham_num and bayes_min_spam_num 1
# setting: rules - rules without network, and Bayes as above; spam from 5 points on
use strict;
use warnings;
my $here;
BEGIN {
    $here = ($ENV{FIELD_BUILD} // 'target/field') . '/../unpacked/spamassassin';
    $here = '' if !-d "$here/usr/share/spamassassin";
    my @places = map { glob "$here/usr/$_" } 'share/perl5', 'lib/*/perl5', 'lib/*/perl5/*';
    unshift @INC, $0 =~ m{(.*)/}, @places;
}
use driver;
$| = 1;
my ($folder, $setting) = @ARGV;
eval { require Mail::SpamAssassin; 1 } or print "skip\tSpamAssassin is not installed\n" and exit;
my $alone = $setting =~ /^bayes/;
my ($rules, $site) = ("$here/usr/share/spamassassin", "$here/etc/spamassassin");
if ($alone) {
    ($rules, $site) = ("$folder/rules", "$folder/site");
    mkdir $_ for $rules, $site;
    symlink "$here/usr/share/spamassassin/$_", "$rules/$_" for qw(10_default_prefs.cf 23_bayes.cf);
    open my $out, '>', "$site/init.pre" or die;
    print $out "loadplugin Mail::SpamAssassin::Plugin::$_\n" for 'Check', 'Bayes';
}
my $once = $setting =~ /at-once/ ? "bayes_min_ham_num 1\nbayes_min_spam_num 1\n" : '';
my $sa = Mail::SpamAssassin->new({
    rules_filename => $rules, site_rules_filename => $site, userprefs_filename => "$folder/prefs",
    userstate_dir => "$folder/model", home_dir_for_helpers => $folder, local_tests_only => 1,
    dont_copy_prefs => 1,
    # What is taught is the truth, so that nothing need be learned from its own verdicts.
    post_config_text => <<"END" });
bayes_path $folder/model/bayes
bayes_auto_learn 0
bayes_auto_expire 0
$once
END
$sa->init(1);
printf "ready\t%s\tSpamAssassin %s\n", $alone ? 0.95 : 5, Mail::SpamAssassin::Version();

sub mail { open my $in, '<:raw', $_[0] or die "$_[0]: $!"; local $/; $sa->parse(scalar <$in>, 1) }

driver::serve(
    learn => sub {
        $sa->init_learner({ wait_for_lock => 1, caller_will_untie => 1 });
        $sa->learn(mail($_->[1]), undef, $_->[0] eq 'spam', 0) for @_;
        $sa->finish_learner;
    },
    judge => sub {
        my $status = $sa->check(mail($_[0]));
        my $score = $alone ? sprintf '%.17g', $status->{bayes_score} // 0.5 : $status->get_score;
        $status->finish;
        return ($score, $score >= 5 ? 'spam' : 'ham', '-') if !$alone;
        return ($score, $score >= 0.95 ? 'spam' : $score < 0.4 ? 'ham' : 'unsure', $score);
    });
